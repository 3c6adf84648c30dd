import { Injectable } from '@nestjs/common';
import { RateLimiterMemory, RateLimiterRedis, type RateLimiterAbstract } from 'rate-limiter-flexible';
import { Redis } from '../redis/index.js';
import { RateLimitRejections } from './rate-limit-rejections.js';

export interface RequestRate {
  /** Names the limit; two limits never share their counts. */
  readonly name: string;
  readonly requests: number;
  readonly seconds: number;
}

export type RateLimiter = Pick<RateLimiterAbstract, 'consume'>;

/**
 * Counts requests per limit and subject (a client, user or IP address): in Redis if `REDIS_URL` is set, otherwise in
 * memory.
 *
 * Redis increments and returns the count in one step, so concurrent requests to any number of processes get exactly
 * the limit. Once a subject reaches the limit, this process rejects further requests without querying Redis until the
 * window ends.
 *
 * While Redis is unavailable, each process counts in memory, starting from zero. When Redis is available again, its
 * counts continue, and those in memory are ignored. At either transition, a subject may get the full limit again from
 * each process. A request whose reply from Redis was lost may be counted in both places, but never twice in one.
 */
@Injectable()
export class RateLimiters {
  private readonly limiters = new Map<string, RateLimiter>();

  constructor(
    private readonly redis: Redis,
    private readonly rejections: RateLimitRejections,
  ) {}

  /** Returns the limiter of this name. All guards with the same name share one limiter. */
  limiterFor(rate: RequestRate): RateLimiter {
    let limiter = this.limiters.get(rate.name);
    if (!limiter) {
      limiter = this.create(rate);
      this.limiters.set(rate.name, limiter);
    }
    return limiter;
  }

  /** @returns a function to call for every rejected request */
  rejectionCounter(name: string): () => void {
    return this.rejections.of(name);
  }

  private create({ name, requests, seconds }: RequestRate): RateLimiter {
    const { client } = this.redis;
    const options = { points: requests, duration: seconds };
    const inMemory = new RateLimiterMemory({ ...options, keyPrefix: name });
    if (!client) return inMemory;
    const inRedis = new RateLimiterRedis({
      ...options,
      storeClient: client,
      keyPrefix: `merchant-connectivity:${name}`,
      inMemoryBlockOnConsumed: requests,
      insuranceLimiter: inMemory,
    });
    return {
      consume: (subject) =>
        this.redis.isConnected ? this.redis.inTime(inRedis.consume(subject)) : inMemory.consume(subject),
    };
  }
}
