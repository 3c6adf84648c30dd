/*
 * The beginning of the document describes the headers of every response, of every error, and of operations with a rate
 * limit. Responses list a header only if it matters for them especially.
 */

export const CHALLENGE_HEADER = {
  'WWW-Authenticate': {
    description: 'How to authenticate (RFC 9110, section 11.6.1).',
    schema: { type: 'string' as const },
  },
};

export const RETRY_AFTER_HEADER = {
  'Retry-After': {
    description: 'Seconds to wait before you retry.',
    schema: { type: 'integer' as const, minimum: 1 },
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
