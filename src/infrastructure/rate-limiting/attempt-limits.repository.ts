import { Injectable } from '@nestjs/common';
import { RateLimiterPostgres } from 'rate-limiter-flexible';
import { DataSource } from 'typeorm';
import { SecretDigest } from '../crypto/index.js';
import { doneAfterwards, unlessOwnFailure } from '../database/index.js';
import { RATE_LIMIT_EXCEEDED, type ApiError } from '../errors/index.js';
import { Clock, CLOCK_TOLERANCE, HOUR, MINUTE, SECOND } from '../time/index.js';
import { CountedLimit, RateLimitRejections, type LimitState } from './rate-limiters.js';
import { AttemptCount } from './attempt-count.entity.js';

interface AttemptLimitOptions {
  readonly attempts: number;
  /** Milliseconds. */
  readonly within: number;
}

/** A limit on failed attempts, such as logins or codes. */
export class AttemptLimit extends CountedLimit {
  constructor(
    name: string,
    readonly options: AttemptLimitOptions,
    private readonly attempts: RateLimiterPostgres,
    private readonly digest: SecretDigest,
    private readonly deleteAhead: (row: string, within: number) => Promise<boolean>,
    countRejection: () => void,
  ) {
    super({ name, requests: options.attempts, seconds: options.within / SECOND }, attempts, countRejection);
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

  override async consume(key: string): Promise<LimitState> {
    const state = await super.consume(key);
    return (await this.isForgotten(key, state.reset * SECOND)) ? super.consume(key) : state;
  }

  /** @returns seconds to wait if the limit is exceeded, without counting an attempt */
  async waitOf(subject: string): Promise<number | undefined> {
    const key = this.keyOf(subject);
    const state = await this.attempts.get(key);
    if (state && (await this.isForgotten(key, state.msBeforeNext))) return undefined;
    return state && state.consumedPoints > this.options.attempts
      ? Math.max(1, Math.ceil(state.msBeforeNext / SECOND))
      : undefined;
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

  /** Deletes a count that expires later than any can, because it was begun while a clock was ahead. @returns whether it did */
  private async isForgotten(key: string, left: number): Promise<boolean> {
    const { within } = this.options;
    return left > within + CLOCK_TOLERANCE && this.deleteAhead(this.attempts.getKey(key), within);
  }

  /** The subject may be an email address or an IP address, which the table must not contain. */
  private keyOf(subject: string): string {
    return this.digest.of(subject).toString('base64');
  }
}

/** An attempt that was counted toward a limit. */
export interface CountedAttempt {
  readonly limit: AttemptLimit;
  readonly subject: string;
}

/** An attempt that counts toward several limits, seen from one of them. */
export interface LimitedAttempt extends CountedAttempt {
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
    const deleteAhead = (row: string, within: number) => this.deleteAhead(row, within);
    return new AttemptLimit(name, options, limiter, this.digest, deleteAhead, this.rejections.of(name));
  }

  private async deleteAhead(row: string, within: number): Promise<boolean> {
    const [, deleted] = await this.dataSource.query<[unknown, number]>(
      `DELETE FROM attempt_count WHERE key = $1 AND expire > ${latestEnd('$2', '$3')}`,
      [row, this.clock.milliseconds(), within],
    );
    return deleted > 0;
  }

  /**
   * Counts an attempt toward all of the limits, and then does the work. The attempt does not count if the service fails.
   *
   * @throws ApiError like `countAll`
   */
  async attempt<Result>(attempts: readonly LimitedAttempt[], work: () => Promise<Result>): Promise<Result> {
    await this.countAll(attempts);
    return unlessOwnFailure(() => subtractAll(attempts), work);
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

/** Subtracts an attempt from each limit, of which each is repeated alone. */
export async function subtractAll(attempts: readonly CountedAttempt[]): Promise<void> {
  await Promise.all(attempts.map(({ limit, subject }) => doneAfterwards(() => limit.subtract(subject))));
}

interface Count extends Pick<AttemptCount, 'key' | 'points'> {
  /** Milliseconds since the epoch. */
  readonly expire: number;
}

/**
 * Returns SQL for the latest end that a count can have, by the clock that is ahead: a clock that is behind must not end counts.
 *
 * @param now SQL for the time of this process, in milliseconds
 */
function latestEnd(now: string, within: string): string {
  const ofDatabase = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
  return `GREATEST(${now}::bigint, ${ofDatabase}) + ${within}::bigint + ${CLOCK_TOLERANCE}`;
}

const IS_OVER = `(counted.expire <= $3 OR counted.expire > ${latestEnd('$3', '(excluded.expire - $3::bigint)')})`;
const COUNT = `
  INSERT INTO attempt_count AS counted (key, points, expire)
  SELECT key, 1, $3::bigint + within FROM unnest($1::text[], $2::bigint[]) AS attempt (key, within) ORDER BY key
  ON CONFLICT (key) DO UPDATE
     SET points = CASE WHEN ${IS_OVER} THEN 1 ELSE counted.points + 1 END,
         expire = CASE WHEN ${IS_OVER} THEN excluded.expire ELSE counted.expire END
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
