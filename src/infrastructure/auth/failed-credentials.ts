import type { Request } from 'express';

/** How to respond to a request with wrong credentials beyond a limit. */
export interface TooManyFailures {
  /** Seconds. */
  readonly retryAfter: number;
  /** Whether this request stands for all that follow it in the client's request log. */
  readonly isFirst: boolean;
  /** Tell the client about the limit. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Port: limits requests with wrong credentials. It is asked only after the credentials have been checked, so that a
 * flood of wrong secrets never refuses the right one.
 */
export abstract class FailedCredentials {
  /**
   * Counts a failure.
   *
   * @param clientId absent for tokens, which do not name their client
   * @returns undefined within the limits
   */
  abstract count(request: Request, clientId?: string): Promise<TooManyFailures | undefined>;
}
