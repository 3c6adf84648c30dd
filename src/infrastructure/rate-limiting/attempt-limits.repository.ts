import { Injectable } from '@nestjs/common';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { DataSource } from 'typeorm';
import { SecretDigest } from '../crypto/index.js';
import { SECOND } from '../time/index.js';
import { RateLimitRejections } from './rate-limit-rejections.js';

export interface AttemptLimitOptions {
  /** Names the limit; two limits never share their counts. */
  readonly name: string;
  readonly attempts: number;
  readonly seconds: number;
}

/** How often somebody may try before they have to wait. */
export class AttemptLimit {
  constructor(
    private readonly limiter: RateLimiterPostgres,
    private readonly digest: SecretDigest,
    private readonly countRefusal: () => void,
  ) {}

  /**
   * Counts an attempt before it is judged, in one statement, so that a hundred guesses at once get no
   * further than as many one after the other.
   *
   * @returns seconds to wait when there were too many, at least 1
   */
  async count(subject: string): Promise<number | undefined> {
    try {
      await this.limiter.consume(this.keyOf(subject));
      return undefined;
    } catch (rejection) {
      if (!(rejection instanceof RateLimiterRes)) throw rejection;
      this.countRefusal();
      return Math.max(1, Math.ceil(rejection.msBeforeNext / SECOND));
    }
  }

  /** An attempt that succeeded was none to be held against anybody: all is forgotten. */
  async forget(subject: string): Promise<void> {
    await this.limiter.delete(this.keyOf(subject));
  }

  /** Takes one attempt back, because it was right. Those before still count, so that nobody guesses on between two. */
  async takeBack(subject: string): Promise<void> {
    await this.limiter.reward(this.keyOf(subject));
  }

  /** The subject may be an e-mail address or an IP address, which this table has no need to know. */
  private keyOf(subject: string): string {
    return this.digest.of(subject).toString('base64');
  }
}

/**
 * Limits on guessing, counted in PostgreSQL: they hold over all processes and over a restart, which a
 * guesser must not be able to wait for. Too slow for the rate of requests (`RateLimitGuard`).
 */
@Injectable()
export class AttemptLimitsRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly digest: SecretDigest,
    private readonly refusals: RateLimitRejections,
  ) {}

  limit({ name, attempts, seconds }: AttemptLimitOptions): AttemptLimit {
    const limiter = new RateLimiterPostgres({
      storeClient: this.dataSource,
      storeType: 'typeorm',
      tableName: 'attempt_count',
      tableCreated: true,
      clearExpiredByTimeout: false,
      keyPrefix: name,
      points: attempts,
      duration: seconds,
    });
    return new AttemptLimit(limiter, this.digest, this.refusals.of(name));
  }
}
