/** Sent with every error. */
export const HELP_LINK_HEADER = {
  Link: {
    description: 'Where the error is documented: `<…>; rel="help"`.',
    schema: { type: 'string' as const },
  },
};

/** Sent with every response. */
export const REQUEST_ID_HEADER = {
  'X-Request-Id': {
    description: 'ID of this request. Quote it when you report a problem. An ID that you send is kept.',
    schema: { type: 'string' as const, pattern: '^[A-Za-z0-9_-]{1,64}$' },
  },
};
