import { Injectable } from '@nestjs/common';
import { RateLimiterPostgres } from 'rate-limiter-flexible';
import { DataSource } from 'typeorm';
import { SecretDigest } from '../crypto/index.js';
import { SECOND } from '../time/index.js';
import { CountedLimit } from './counted-limit.js';
import { RateLimitRejections } from './rate-limit-rejections.js';

export interface AttemptLimitOptions {
  /** Names the limit; two limits never share their counts. */
  readonly name: string;
  readonly attempts: number;
  /** Milliseconds. */
  readonly within: number;
}

/** A limit on failed attempts, such as logins or codes. */
export class AttemptLimit extends CountedLimit {
  constructor(
    private readonly attempts: RateLimiterPostgres,
    private readonly digest: SecretDigest,
    countRejection: () => void,
  ) {
    super(attempts, countRejection);
  }

  /**
   * Counts an attempt in one statement, before its outcome is known, so that concurrent attempts can't exceed the
   * limit.
   *
   * @returns seconds to wait if the limit is exceeded, at least 1
   */
  override count(subject: string): Promise<number | undefined> {
    return super.count(this.keyOf(subject));
  }

  /** Resets the count of the subject, after an attempt that succeeded. */
  async forget(subject: string): Promise<void> {
    await this.attempts.delete(this.keyOf(subject));
  }

  /** Subtracts an attempt that succeeded. Earlier ones still count, so a success doesn't allow more guesses. */
  async subtract(subject: string): Promise<void> {
    await this.attempts.reward(this.keyOf(subject));
  }

  /** The subject may be an email address or an IP address, which the table must not contain. */
  private keyOf(subject: string): string {
    return this.digest.of(subject).toString('base64');
  }
}

/**
 * Limits on guessing, counted in PostgreSQL so that they hold across processes and restarts. Requests are counted in
 * Redis or in memory (`RateLimitGuard`), which is faster.
 */
@Injectable()
export class AttemptLimitsRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly digest: SecretDigest,
    private readonly rejections: RateLimitRejections,
  ) {}

  limit({ name, attempts, within }: AttemptLimitOptions): AttemptLimit {
    const limiter = new RateLimiterPostgres({
      storeClient: this.dataSource,
      storeType: 'typeorm',
      tableName: 'attempt_count',
      tableCreated: true,
      clearExpiredByTimeout: false,
      keyPrefix: name,
      points: attempts,
      duration: within / SECOND,
    });
    return new AttemptLimit(limiter, this.digest, this.rejections.of(name));
  }
}
