import { RateLimiterRes, type RateLimiterAbstract } from 'rate-limiter-flexible';
import { SECOND } from '../time/index.js';

/** The state of a limit for one subject, after a request or an attempt was counted. */
export interface LimitState {
  /** Requests or attempts that are left. */
  readonly remaining: number;
  /** Seconds until the limit starts anew. */
  readonly reset: number;
  /** Seconds to wait if the limit is exceeded, at least 1. */
  readonly retryAfter?: number;
}

/** Counts each subject, such as a client or an IP address, separately. Counts rejections in the metrics. */
export class CountedLimit {
  constructor(
    private readonly limiter: Pick<RateLimiterAbstract, 'consume'>,
    readonly countRejection: () => void,
  ) {}

  /** Counts a request or an attempt. @returns seconds to wait if the limit is exceeded, at least 1 */
  async count(subject: string): Promise<number | undefined> {
    return (await this.consume(subject)).retryAfter;
  }

  /** Counts a request or an attempt. */
  async consume(subject: string): Promise<LimitState> {
    try {
      const { remainingPoints, msBeforeNext } = await this.limiter.consume(subject);
      return { remaining: remainingPoints, reset: Math.ceil(msBeforeNext / SECOND) };
    } catch (rejection) {
      if (!(rejection instanceof RateLimiterRes)) throw rejection;
      this.countRejection();
      const retryAfter = Math.max(1, Math.ceil(rejection.msBeforeNext / SECOND));
      return { remaining: 0, reset: retryAfter, retryAfter };
    }
  }
}

/** A limit on requests, which tells clients its state in headers. */
export class RequestLimit extends CountedLimit {
  /** The value of `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10). */
  private readonly policy: string;
  private readonly name: string;

  constructor(
    limiter: Pick<RateLimiterAbstract, 'consume'>,
    countRejection: () => void,
    { name, requests, seconds }: { name: string; requests: number; seconds: number },
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
