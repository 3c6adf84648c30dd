import { RateLimiterRes, type RateLimiterAbstract } from 'rate-limiter-flexible';
import { SECOND } from '../time/index.js';

/** Counts each subject, such as a client or an IP address, separately. Counts rejections in the metrics. */
export class CountedLimit {
  constructor(
    private readonly limiter: Pick<RateLimiterAbstract, 'consume'>,
    private readonly countRejection: () => void,
  ) {}

  /** Counts a request or an attempt. @returns seconds to wait if the limit is exceeded, at least 1 */
  async count(subject: string): Promise<number | undefined> {
    try {
      await this.limiter.consume(subject);
      return undefined;
    } catch (rejection) {
      if (!(rejection instanceof RateLimiterRes)) throw rejection;
      this.countRejection();
      return Math.max(1, Math.ceil(rejection.msBeforeNext / SECOND));
    }
  }
}
