import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import { CountedLimit, type LimitState } from './counted-limit.js';

export interface Policy {
  readonly name: string;
  readonly requests: number;
  readonly seconds: number;
}

/** A limit on requests, which tells clients its state in headers. */
export class RequestLimit extends CountedLimit {
  /** The value of `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10). */
  private readonly policy: string;
  private readonly name: string;

  constructor(
    limiter: Pick<RateLimiterAbstract, 'consume'>,
    countRejection: () => void,
    { name, requests, seconds }: Policy,
  ) {
    super(limiter, countRejection);
    this.name = name;
    this.policy = `"${name}";q=${requests};w=${seconds}`;
  }

  /** Returns the headers that tell a client the limit and its state. */
  headersOf({ remaining, reset }: LimitState): Record<string, string> {
    return { 'RateLimit-Policy': this.policy, RateLimit: `"${this.name}";r=${remaining};t=${reset}` };
  }
}
