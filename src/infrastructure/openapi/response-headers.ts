/** Sent with every error. */
export const HELP_LINK_HEADER = {
  Link: {
    description: 'Where the error is documented: `<…>; rel="help"`.',
    schema: { type: 'string' as const },
  },
};

/** Sent with the responses of operations with a rate limit, after the credentials have been checked. */
export const RATE_LIMIT_HEADERS = {
  RateLimit: {
    description:
      'State of the limit: its name, the requests that remain (`r`), and the seconds until it starts anew (`t`).',
    schema: { type: 'string' as const },
    example: '"platform";r=5999;t=60',
  },
  'RateLimit-Policy': {
    description: 'The limit: its name, the number of requests (`q`), and the window in seconds (`w`).',
    schema: { type: 'string' as const },
    example: '"platform";q=6000;w=60',
  },
};

/** Sent with every response. */
export const REQUEST_ID_HEADER = {
  'X-Request-Id': {
    description: 'ID of this request. Quote it when you report a problem. An ID that you send is kept.',
    schema: { type: 'string' as const, pattern: '^[A-Za-z0-9_-]{1,64}$' },
  },
};
