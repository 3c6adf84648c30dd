import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { QueryRunner } from 'typeorm';
import { SECOND } from '../../time/index.js';
import { isLockTimeout, isStatementCanceled, isTransient } from '../sql-state.js';

/** The limits are parameters because the checksum of a migration contains the text of its statements. */
const LIMIT = `SELECT pg_backend_pid() AS pid, set_config('lock_timeout', $1, false), set_config('statement_timeout', $2, false)`;
/** Milliseconds that others wait behind a statement that waits for its lock. Transactions that overlap need more than one attempt. */
const LOCK_TIMEOUTS = [200, 400, 600];
/** Milliseconds that a statement may take for the locks of a table and of its partitions, one after the other, and with them. */
const STATEMENT_TIMEOUT = 1_500;
/** Milliseconds beyond which no attempt is extended. */
const LONGEST_STATEMENT = 12_000;
const PAUSE = SECOND;
/** Milliseconds between two attempts if nobody knows what to wait for, such as a prepared transaction. */
const LONG_PAUSE = 10 * SECOND;
/** Milliseconds between two questions for whom a statement waits that gives up soon. */
const WATCH_INTERVAL = 50;
/** Attempts of a statement after which it is reported, or gets more time, again and again. */
const REPORTED = 20;
/** Milliseconds after which a transaction that the migration waits for is reported. */
const PATIENCE = 3 * SECOND;

/** A transaction that the migration waits for. Other roles see only the process, the user and the application. */
interface Blocker {
  readonly transaction: string;
  readonly pid: number;
  readonly user: string;
  readonly application: string;
  readonly query: string;
}

/** Transactions that block a process, or are among the given ones and have not ended. */
const BLOCKERS = `
  SELECT virtualtransaction AS transaction, pid, usename AS "user", application_name AS application, left(query, 100) AS query
    FROM pg_locks JOIN pg_stat_activity USING (pid)
   WHERE locktype = 'virtualxid' AND granted AND pid <> $1
     AND (pid = ANY (pg_blocking_pids($1)) OR virtualtransaction = ANY ($2))`;

/**
 * Runs one statement that changes the schema, in a transaction of its own. A statement that waits for a lock blocks all that come
 * after it, also readers, so it gives up after a short time, and tries again once the transactions that blocked it have ended: a
 * backup can keep locks for hours. The statement must do nothing if it has run before (`IF NOT EXISTS`, `OR REPLACE`), because an
 * interrupted migration is repeated, and must not read a table while it holds its lock. The migration must set
 * `transaction = false`.
 *
 * @param statementTimeout milliseconds that the statement may take; 0 if nobody waits for its first locks. If the statement takes
 *   longer although nobody blocks it, such as a change of hundreds of partitions, the next attempt may take twice as long, up to 12 s.
 *   If others block it, only every twentieth attempt adds to the limit.
 */
export async function changeSchema(
  connection: QueryRunner,
  statement: string,
  statementTimeout = STATEMENT_TIMEOUT,
): Promise<void> {
  const watch = new LockWatch(connection, statement);
  let limit = statementTimeout;
  for (let attempt = 0; ; attempt += 1) {
    const lockTimeout = LOCK_TIMEOUTS[attempt % LOCK_TIMEOUTS.length] ?? 0;
    try {
      return await watch.run({ lockTimeout, statementTimeout: limit, interval: WATCH_INTERVAL });
    } catch (error) {
      const isCanceled = isStatementCanceled(error);
      if (!isCanceled && !isLockTimeout(error) && !isTransient(error)) throw error;
      const isReported = attempt % REPORTED === REPORTED - 1;
      const details = {
        statement: statement.slice(0, 200),
        attempts: attempt + 1,
        cause: (error as Error).message,
      };
      if (isCanceled && limit > 0 && limit < LONGEST_STATEMENT && (isReported || !watch.isBlocked)) {
        limit *= 2;
        new Logger('Database').warn(
          'A statement of the migration takes longer than its limit. The next attempt may take twice as long, and other requests may wait for it',
          { ...details, milliseconds: limit },
        );
      } else if (isReported)
        new Logger('Database').warn(
          'A statement of the migration does not succeed, and is tried again',
          details,
        );
      await watch.untilUnblocked(isLockTimeout(error) ? LONG_PAUSE : PAUSE);
    }
  }
}

/**
 * Runs a statement whose lock blocks neither readers nor writers, such as CREATE INDEX CONCURRENTLY and VALIDATE CONSTRAINT. It takes
 * as long as it needs, and waits for others as long as they need.
 */
export async function runBesideOthers(connection: QueryRunner, statement: string): Promise<void> {
  await new LockWatch(connection, statement).run({ lockTimeout: 0, statementTimeout: 0, interval: PAUSE });
}

interface Run {
  readonly lockTimeout: number;
  readonly statementTimeout: number;
  /** Milliseconds between two questions for whom the statement waits. */
  readonly interval: number;
}

/** Runs a statement, and says for whom it waits: once for each transaction. */
class LockWatch {
  private blockers: readonly Blocker[] = [];
  /** When each transaction was first seen, and Infinity once it was reported. */
  private readonly since = new Map<string, number>();

  constructor(
    private readonly connection: QueryRunner,
    private readonly statement: string,
  ) {}

  /** Whether others blocked the last attempt, at least for a moment. */
  get isBlocked(): boolean {
    return this.blockers.length > 0;
  }

  async run({ lockTimeout, statementTimeout, interval }: Run): Promise<void> {
    const [row] = await this.connection.query(LIMIT, [String(lockTimeout), String(statementTimeout)]);
    this.blockers = [];
    const running = this.connection.query(this.statement);
    const ended = running.then(
      () => true,
      () => true,
    );
    try {
      while (!(await Promise.race([ended, pause(interval, false, { ref: false })]))) {
        const found = await this.find(row.pid, []);
        if (found.length > 0) this.blockers = found;
      }
      await running;
    } finally {
      await this.connection.query(LIMIT, ['0', '0']);
    }
  }

  /**
   * Waits until the transactions that blocked the last attempt have ended. Meanwhile, nobody waits for the migration.
   *
   * @param otherwise milliseconds to wait if there were none
   */
  async untilUnblocked(otherwise: number): Promise<void> {
    const blocking = this.blockers.map(({ transaction }) => transaction);
    do await pause(this.isBlocked ? PAUSE : otherwise);
    while ((await this.find(0, blocking)).length > 0);
  }

  private async find(pid: number, transactions: readonly string[]): Promise<Blocker[]> {
    // The connection of the migration may be busy with the statement.
    const found: Blocker[] = await this.connection.connection.query(BLOCKERS, [pid, transactions]);
    const now = performance.now();
    const isLong = ({ transaction }: Blocker): boolean => {
      if (!this.since.has(transaction)) this.since.set(transaction, now);
      return now - (this.since.get(transaction) ?? now) >= PATIENCE;
    };
    const long = found.filter(isLong);
    if (long.length > 0) {
      new Logger('Database').warn(
        'The migration waits until other transactions end. The service continues meanwhile',
        {
          statement: this.statement.trim().slice(0, 100),
          transactions: long.map(({ transaction: _transaction, ...shown }) => shown),
        },
      );
      for (const { transaction } of long) this.since.set(transaction, Infinity);
    }
    return found;
  }
}
