import { Injectable } from '@nestjs/common';
import { RateLimiterMemory, RateLimiterRedis, type RateLimiterAbstract } from 'rate-limiter-flexible';
import { Redis, type RedisScript } from '../redis/index.js';
import { RateLimitRejections } from './rate-limit-rejections.js';

export interface RequestRate {
  /** Names the limit; two limits never share their counts. */
  readonly name: string;
  readonly requests: number;
  readonly seconds: number;
}

/**
 * The counters, one for each limit: in Redis, together with all other processes, where there is one, and of
 * this process alone otherwise. Nest makes a guard anew for every module that uses it; the counts must not
 * be made anew with it.
 *
 * Redis adds one and tells the sum in one step, so rivals in any number of processes get exactly what is left.
 * Whoever has used up the limit is refused from memory until the window ends, without asking Redis again: a
 * flood costs it nothing.
 *
 * While Redis is away each process counts for itself, from zero. When it is back its counts go on from where
 * they were, if their windows have not ended meanwhile, and those in memory are looked at no more. So around
 * both moments a caller may have the limit once more from each process. A call whose answer was lost may be
 * counted in both places, and is never counted twice in one.
 */
@Injectable()
export class RateLimiters {
  private readonly limiters = new Map<string, RateLimiterAbstract>();

  constructor(
    private readonly redis: Redis,
    private readonly refusals: RateLimitRejections,
  ) {}

  for(rate: RequestRate): RateLimiterAbstract {
    let limiter = this.limiters.get(rate.name);
    if (!limiter) {
      limiter = this.redis.isConfigured ? this.shared(rate) : this.inMemory(rate);
      this.limiters.set(rate.name, limiter);
    }
    return limiter;
  }

  /** @returns what to call for every request that is refused */
  refusalsOf(name: string): () => void {
    return this.refusals.of(name);
  }

  private inMemory({ name, requests, seconds }: RequestRate): RateLimiterMemory {
    return new RateLimiterMemory({ keyPrefix: name, points: requests, duration: seconds });
  }

  private shared(rate: RequestRate): RateLimiterRedis {
    const { name, requests, seconds } = rate;
    return new RateLimiterRedis({
      storeClient: new CountingClient(this.redis),
      keyPrefix: `merchant-connectivity:${name}`,
      points: requests,
      duration: seconds,
      inMemoryBlockOnConsumed: requests,
      insuranceLimiter: this.inMemory(rate),
    });
  }
}

/** As much of a client as `RateLimiterRedis` uses; ours knows when to give up. */
class CountingClient {
  private script: RedisScript | undefined;

  constructor(private readonly redis: Redis) {}

  defineCommand(name: string, script: Omit<RedisScript, 'name'>): void {
    this.script = { name, ...script };
  }

  async rlflxIncr(values: readonly string[]): Promise<unknown> {
    if (!this.script) throw new Error('The script is not defined');
    return this.redis.run(this.script, values);
  }
}
