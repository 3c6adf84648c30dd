import { Injectable } from '@nestjs/common';
import { RateLimiterMemory, type RateLimiterAbstract } from 'rate-limiter-flexible';
import { Refusals } from './refusals.js';

export interface RequestRate {
  /** Names the limit; two limits never share their counts. */
  readonly name: string;
  readonly requests: number;
  readonly seconds: number;
}

/**
 * The counters of this process, one for each limit. Nest makes a guard anew for every module that uses it;
 * the counts must not be made anew with it.
 */
@Injectable()
export class RateLimiters {
  private readonly limiters = new Map<string, RateLimiterAbstract>();

  constructor(private readonly refusals: Refusals) {}

  for({ name, requests, seconds }: RequestRate): RateLimiterAbstract {
    let limiter = this.limiters.get(name);
    if (!limiter) {
      limiter = new RateLimiterMemory({ keyPrefix: name, points: requests, duration: seconds });
      this.limiters.set(name, limiter);
    }
    return limiter;
  }

  /** @returns what to call for every request that is refused */
  refusalsOf(name: string): () => void {
    return this.refusals.of(name);
  }
}
