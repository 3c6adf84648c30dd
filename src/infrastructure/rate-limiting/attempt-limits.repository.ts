import { Injectable } from '@nestjs/common';
import { RateLimiterPostgres } from 'rate-limiter-flexible';
import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm';
import { SecretDigest } from '../crypto/index.js';
import { DeleteAfter } from '../database/index.js';
import { RATE_LIMIT_EXCEEDED, type ApiError } from '../errors/index.js';
import { Clock, HOUR, MINUTE, SECOND } from '../time/index.js';
import { CountedLimit, RateLimitRejections } from './rate-limiters.js';

/** A counter of rate-limiter-flexible, which defines the columns. */
@Entity({ name: 'attempt_count' })
class AttemptCount {
  @PrimaryColumn({ type: 'varchar', length: 255 })
  key!: string;

  @Column({ type: 'integer' })
  points!: number;

  /** Milliseconds since the epoch. */
  @DeleteAfter(0)
  @Column({ type: 'bigint', nullable: true })
  expire!: string | null;
}

interface AttemptLimitOptions {
  readonly attempts: number;
  /** Milliseconds. */
  readonly within: number;
}

/** A limit on failed attempts, such as logins or codes. */
export class AttemptLimit extends CountedLimit {
  constructor(
    readonly options: AttemptLimitOptions,
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

  rowOf(subject: string): string {
    return this.attempts.getKey(this.keyOf(subject));
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

/** An attempt that counts toward several limits, seen from one of them. */
export interface LimitedAttempt {
  readonly limit: AttemptLimit;
  readonly subject: string;
  readonly error: (retryAfter: number) => ApiError;
}

/**
 * Limits on guessing and on messages, counted in PostgreSQL so that they hold across processes and restarts. Requests are
 * counted in Redis or in memory (`RateLimitGuard`), which is faster.
 */
@Injectable()
export class AttemptLimitsRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly digest: SecretDigest,
    private readonly rejections: RateLimitRejections,
    private readonly clock: Clock,
  ) {}

  /** @param name two limits with different names never share their counts */
  limit(name: string, options: AttemptLimitOptions): AttemptLimit {
    const limiter = new RateLimiterPostgres({
      storeClient: this.dataSource,
      storeType: 'typeorm',
      tableName: 'attempt_count',
      tableCreated: true,
      clearExpiredByTimeout: false,
      keyPrefix: name,
      points: options.attempts,
      duration: options.within / SECOND,
    });
    return new AttemptLimit(options, limiter, this.digest, this.rejections.of(name));
  }

  /**
   * Counts an attempt toward all of the limits or, if it exceeds one of them, toward none. The statement locks the counts, in
   * the order of their keys, until the transaction ends, so that concurrent attempts can't exceed a limit. The transaction is
   * one of its own: what else the request writes must not decide about the counts.
   *
   * @throws ApiError the error of the exceeded limit with the longest wait
   */
  async countAll(attempts: readonly LimitedAttempt[]): Promise<void> {
    const now = this.clock.milliseconds();
    await this.dataSource.transaction(async (manager) => {
      const counts = await manager.query<Count[]>(COUNT, [
        attempts.map(({ limit, subject }) => limit.rowOf(subject)),
        attempts.map(({ limit }) => limit.options.within),
        now,
      ]);
      const [refused] = attempts
        .map((attempt) => {
          const row = attempt.limit.rowOf(attempt.subject);
          return { attempt, count: counts.find(({ key }) => key === row) as Count };
        })
        .filter(({ attempt, count }) => count.points > attempt.limit.options.attempts)
        .toSorted((one, other) => other.count.expire - one.count.expire);
      if (!refused) return;
      refused.attempt.limit.countRejection();
      throw refused.attempt.error(Math.max(1, Math.ceil((refused.count.expire - now) / SECOND)));
    });
  }
}

interface Count extends Pick<AttemptCount, 'key' | 'points'> {
  /** Milliseconds since the epoch. */
  readonly expire: number;
}

const COUNT = `
  INSERT INTO attempt_count AS counted (key, points, expire)
  SELECT key, 1, $3::bigint + within FROM unnest($1::text[], $2::bigint[]) AS attempt (key, within) ORDER BY key
  ON CONFLICT (key) DO UPDATE
     SET points = CASE WHEN counted.expire <= $3 THEN 1 ELSE counted.points + 1 END,
         expire = CASE WHEN counted.expire <= $3 THEN excluded.expire ELSE counted.expire END
  RETURNING key, points, expire::float8`;

/**
 * Returns the error for too many attempts. It does not reveal whether the account exists.
 *
 * @param problem the first sentence of the message
 */
export function tooManyAttempts(seconds: number, problem = 'There were too many attempts.'): ApiError {
  const minutes = Math.ceil((seconds * SECOND) / MINUTE);
  const wait =
    minutes === 1
      ? 'a minute'
      : minutes <= (2 * HOUR) / MINUTE
        ? `${minutes} minutes`
        : `${Math.ceil((minutes * MINUTE) / HOUR)} hours`;
  return RATE_LIMIT_EXCEEDED.error(`${problem} Try again in ${wait}.`, { retryAfter: seconds });
}
