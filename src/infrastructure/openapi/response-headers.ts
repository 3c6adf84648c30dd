/** Sent with every answer. */
export const REQUEST_ID_HEADER = {
  'X-Request-Id': {
    description: 'Names this call; quote it when you report a problem. A caller’s own is kept.',
    schema: { type: 'string' as const, pattern: '^[A-Za-z0-9_-]{1,64}$' },
  },
};
