import { Injectable } from '@nestjs/common';
import { RateLimiterRedis, RateLimiterRes, type RateLimiterAbstract } from 'rate-limiter-flexible';
import { boundedKey } from '../caching/index.js';
import { LoadedConfiguration, type ConfigurationClass } from '../config/index.js';
import type { ErrorKind } from '../errors/index.js';
import { CounterMetric, Metrics } from '../metrics/index.js';
import { Redis } from '../redis/index.js';
import { SECOND } from '../time/index.js';
import { BoundedMemory } from './bounded-memory.js';

/** The state of a limit for one subject, after a request or an attempt was counted. */
export interface LimitState {
  readonly remaining: number;
  /** Seconds until the limit starts anew. */
  readonly reset: number;
  /** Seconds to wait if the limit is exceeded, at least 1. */
  readonly retryAfter?: number;
}

/** The numbers of a limit: so many requests or attempts within so many seconds. */
interface Quota {
  readonly name: string;
  readonly requests: number;
  readonly seconds: number;
}

/** Counts each subject, such as a client or an IP address, separately. Counts rejections in the metrics. */
export class CountedLimit {
  /** The value of `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10). */
  private readonly policy = `"${this.quota.name}";q=${this.quota.requests};w=${this.quota.seconds}`;

  constructor(
    private readonly quota: Quota,
    private readonly limiter: Pick<RateLimiterAbstract, 'consume'>,
    readonly countRejection: () => void,
  ) {}

  /** Counts a request or an attempt. @returns seconds to wait if the limit is exceeded, at least 1 */
  async count(subject: string): Promise<number | undefined> {
    return (await this.consume(subject)).retryAfter;
  }

  /** Counts a request. @throws ApiError if the limit is exceeded */
  async enforce(subject: string, error: ErrorKind): Promise<void> {
    const retryAfter = await this.count(subject);
    if (retryAfter !== undefined) throw error.error(undefined, { retryAfter });
  }

  async consume(subject: string): Promise<LimitState> {
    try {
      const { remainingPoints, msBeforeNext } = await this.limiter.consume(boundedKey(subject));
      return { remaining: remainingPoints, reset: Math.ceil(msBeforeNext / SECOND) };
    } catch (rejection) {
      if (!(rejection instanceof RateLimiterRes)) throw rejection;
      this.countRejection();
      const retryAfter = Math.max(1, Math.ceil(rejection.msBeforeNext / SECOND));
      return { remaining: 0, reset: retryAfter, retryAfter };
    }
  }

  /** Returns the headers that show clients the state of a limit on requests. */
  headersOf({ remaining, reset }: LimitState): Record<string, string> {
    return { 'RateLimit-Policy': this.policy, RateLimit: `"${this.quota.name}";r=${remaining};t=${reset}` };
  }
}

export interface RateLimit {
  /** Operations with the same name share their counts; the name is also in headers and a label of the metrics. */
  readonly name: string;
  readonly requests: (configuration: LoadedConfiguration) => number;
  /**
   * The sender whose requests are counted together; all but addresses must be authenticated first. An agent is counted by its
   * connection, or else by its token. `issuer`: an address at the authorization server of one API client.
   */
  readonly per: 'client' | 'user' | 'agent' | 'address' | 'issuer';
  readonly seconds: number;
}

type NumberIn<Settings> = {
  [Name in keyof Settings]: Settings[Name] extends number ? Name : never;
}[keyof Settings];

/** Returns a limit per minute, which is a field of a configuration class. */
export function perMinute<Settings extends object>(
  name: string,
  per: RateLimit['per'],
  settings: ConfigurationClass<Settings>,
  field: NumberIn<Settings>,
): RateLimit {
  return { name, per, seconds: 60, requests: (configuration) => Number(configuration.get(settings)[field]) };
}

const REJECTIONS = new CounterMetric({
  name: 'mcs_rate_limit_refusals_total',
  help: 'Requests and attempts that were refused because they exceeded a limit.',
  labels: ['limit'],
});

/** Counts how often each limit refused a request or an attempt. */
@Injectable()
export class RateLimitRejections {
  private readonly rejections = this.metrics.counter(REJECTIONS);

  constructor(private readonly metrics: Metrics) {}

  /** Exposes the limit in the metrics. @returns a function to call for each refusal */
  of(limit: string): () => void {
    this.rejections.inc({ limit }, 0);
    return () => this.rejections.inc({ limit });
  }
}

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
  private readonly limits = new Map<string, CountedLimit>();

  constructor(
    private readonly redis: Redis,
    private readonly rejections: RateLimitRejections,
    private readonly configuration: LoadedConfiguration,
  ) {}

  /** Returns the limit of this name. All guards with the same name share one limit. */
  limit(limit: Omit<RateLimit, 'per'>): CountedLimit {
    let counted = this.limits.get(limit.name);
    if (!counted) {
      const quota = { ...limit, requests: limit.requests(this.configuration) };
      counted = new CountedLimit(quota, this.limiterFor(quota), this.rejections.of(limit.name));
      this.limits.set(limit.name, counted);
    }
    return counted;
  }

  private limiterFor({ name, requests, seconds }: Quota): Pick<RateLimiterAbstract, 'consume'> {
    const { client } = this.redis;
    const options = { points: requests, duration: seconds };
    const inMemory = new BoundedMemory({ ...options, keyPrefix: name });
    if (!client) return inMemory;
    const inRedis = new RateLimiterRedis({
      ...options,
      storeClient: client,
      keyPrefix: `merchant-connectivity:${name}`,
      inMemoryBlockOnConsumed: options.points,
      insuranceLimiter: inMemory,
    });
    const consumeInRedis = (subject: string | number): Promise<RateLimiterRes> =>
      inRedis.consume(subject).catch((rejection: unknown) => {
        // This process rejects until a time of the wall clock, which was ahead when the time was set.
        if (!(rejection instanceof RateLimiterRes && rejection.msBeforeNext > seconds * SECOND))
          throw rejection;
        inRedis.deleteInMemoryBlockedAll();
        return inRedis.consume(subject);
      });
    return {
      consume: (subject) =>
        this.redis.isConnected ? this.redis.inTime(consumeInRedis(subject)) : inMemory.consume(subject),
    };
  }
}
