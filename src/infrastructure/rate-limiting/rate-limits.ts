import { Injectable } from '@nestjs/common';
import { RateLimiterMemory } from 'rate-limiter-flexible';

/**
 * The counts of this process. Nest makes a guard for every module that uses it; what they count must be one
 * number all the same.
 */
@Injectable()
export class RateLimits {
  private readonly limiters = new Map<string, RateLimiterMemory>();

  /** The one limiter of this name. */
  limiter(name: string, requests: number, seconds: number): RateLimiterMemory {
    const known = this.limiters.get(name);
    if (known) return known;
    const limiter = new RateLimiterMemory({ keyPrefix: name, points: requests, duration: seconds });
    this.limiters.set(name, limiter);
    return limiter;
  }
}
