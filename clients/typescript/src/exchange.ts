/** A request that is about to be sent. */
export interface Attempt {
  /** The operation, for example `createMcpToken`. */
  readonly operation: string;
  readonly method: string;
  /** The path with names in braces, such as `/request-logs/{id}`. It contains no data of a user. */
  readonly path: string;
  /** 1, or more for a repetition. */
  readonly attempt: number;
  /** The headers contain the credentials. Do not log them. */
  readonly headers: Headers;
}

/** How far a client is from a rate limit: the header `RateLimit`. */
export interface RateLimit {
  /** The limit, which several operations can share. */
  readonly name: string;
  readonly remaining: number;
  /** Seconds until the limit is full again. */
  readonly reset: number;
}

/** The outcome of a request. */
export interface Exchange extends Omit<Attempt, 'headers'> {
  readonly milliseconds: number;
  /** Undefined if there was no response. */
  readonly status: number | undefined;
  /** The ID to quote when you report a problem. */
  readonly requestId: string | undefined;
  readonly rateLimit: RateLimit | undefined;
  /** Whether the response is that of an earlier request with the same idempotency key. */
  readonly isReplayed: boolean;
  /** The error that the operation throws, unless the request is repeated. */
  readonly error: Error | undefined;
}

/** Returns the outcome of an attempt. */
export function exchangeOf(
  { headers: _headers, ...attempt }: Attempt,
  milliseconds: number,
  response: Response | undefined,
  error: Error | undefined,
): Exchange {
  const headers = response?.headers;
  return {
    ...attempt,
    milliseconds,
    status: response?.status,
    requestId: headers?.get('x-request-id') ?? undefined,
    rateLimit: rateLimitOf(headers?.get('ratelimit') ?? ''),
    isReplayed: headers?.get('idempotency-replayed') === 'true',
    error,
  };
}

function rateLimitOf(header: string): RateLimit | undefined {
  const [, name, remaining, reset] = /^"([^"]+)";r=(\d+);t=(\d+)/.exec(header) ?? [];
  return name === undefined ? undefined : { name, remaining: Number(remaining), reset: Number(reset) };
}
