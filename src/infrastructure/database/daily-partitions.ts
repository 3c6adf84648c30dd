import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { DAY, SECOND } from '../time/index.js';
import { isLockTimeout } from './sql-state.js';

/** Number of days whose partitions are created in advance, so that the worker can be down for several days. */
const DAYS_AHEAD = 7;
/**
 * A statement that waits for a lock on the table blocks all later readers and writers. So it waits only briefly, and
 * retries after a pause in which a slow reader may finish.
 */
const LOCK_TIMEOUT = '200ms';
const MAX_LOCK_ATTEMPTS = 30;
const LOCK_RETRY_DELAY = SECOND;
/**
 * Blocks of a stray table that one transaction moves: about 6,000 rows of the request log, which take a quarter of a
 * second.
 */
const BLOCKS_PER_MOVE = 250;

/** A partition as an operator sees it. */
export interface PartitionStatus {
  readonly name: string;
  /** Null for the default partition. */
  readonly from: Date | null;
  readonly to: Date | null;
  /** PostgreSQL's estimate; exact for the default partition. */
  readonly entries: number;
  /** Including its indexes. */
  readonly bytes: number;
}

/** The state of a table that is partitioned by day. */
export interface PartitionsOverview {
  /** Number of days after today that have a partition. */
  readonly daysAhead: number;
  /** Start of the oldest partition; undefined if there is none. */
  readonly oldest: Date | undefined;
  /** Whether the default partition holds rows. */
  readonly hasMisplacedRows: boolean;
}

/**
 * Maintains a table that is partitioned by `created_at`: one partition per day in UTC (`<table>_YYYYMMDD`), and a
 * default partition for rows of other days (`<table>_default`).
 */
@Injectable()
export class DailyPartitions {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Creates the partitions of the coming days, drops those past retention, and moves rows out of the default partition.
   * If one day fails, the others are still processed.
   *
   * @throws AggregateError with all failures, after everything else was done
   */
  async rotate(table: string, now: Date, retentionDays: number): Promise<void> {
    const today = startOfDay(now);
    const oldestKept = addDays(today, -retentionDays);
    const newest = addDays(today, DAYS_AHEAD);
    const urgent = new Tasks();
    for (const day of [today, addDays(today, 1)]) await urgent.run(() => this.create(table, day));
    // Dropping old partitions before the retry frees the space that new ones need on a full disk.
    const tasks = new Tasks();
    await tasks.run(() => this.dropExpired(table, oldestKept, tasks));
    for (const retry of urgent.failed) await tasks.run(retry);
    for (const offset of [-1, ...range(2, DAYS_AHEAD)]) {
      await tasks.run(() => this.create(table, addDays(today, offset)));
    }
    await tasks.run(() => this.moveStrayRows(table, { oldestKept, newest }, tasks));
    tasks.throwFailures(`The partitions of ${table} are not complete`);
  }

  /** Returns all partitions, oldest first, the default partition last. */
  async status(table: string): Promise<PartitionStatus[]> {
    const partitions = await this.dataSource.query<{ name: string; entries: string; bytes: string }[]>(
      `SELECT child.relname AS name, pg_total_relation_size(child.oid) AS bytes,
              -- reltuples is as old as the last ANALYZE; the statistics also count later rows.
              greatest(child.reltuples, pg_stat_get_live_tuples(child.oid))::bigint AS entries
         FROM pg_inherits JOIN pg_class child ON child.oid = pg_inherits.inhrelid
        WHERE pg_inherits.inhparent = $1::regclass ORDER BY name`,
      [table],
    );
    const [misplaced] = await this.dataSource.query<{ entries: string }[]>(
      `SELECT count(*) AS entries FROM ${table}_default`,
    );
    return partitions.map(({ name, entries, bytes }) => {
      const from = dayOf(name);
      return {
        name,
        from,
        to: from && new Date(from.getTime() + DAY),
        entries: Number(from ? entries : misplaced?.entries),
        bytes: Number(bytes),
      };
    });
  }

  async overview(table: string, now: Date): Promise<PartitionsOverview> {
    const [partitions, misplaced] = await Promise.all([
      this.partitionsOf(table),
      this.dataSource.query<object[]>(`SELECT FROM ${table}_default LIMIT 1`),
    ]);
    const starts = [...partitions.values()].toSorted((left, right) => left.getTime() - right.getTime());
    return {
      daysAhead: starts.filter((start) => start > now).length,
      oldest: starts[0],
      hasMisplacedRows: misplaced.length > 0,
    };
  }

  private async partitionsOf(table: string): Promise<Map<string, Date>> {
    const rows = await this.dataSource.query<{ name: string }[]>(
      `SELECT child.relname AS name FROM pg_inherits
         JOIN pg_class child ON child.oid = pg_inherits.inhrelid
        WHERE pg_inherits.inhparent = $1::regclass`,
      [table],
    );
    return new Map(
      rows.flatMap(({ name }) => {
        const day = dayOf(name);
        return day ? [[name, day] as const] : [];
      }),
    );
  }

  private async dropExpired(table: string, oldestKept: Date, tasks: Tasks): Promise<void> {
    for (const start of (await this.partitionsOf(table)).values()) {
      if (start >= oldestKept) continue;
      await tasks.run(() =>
        this.withTableLock((transaction) =>
          transaction.query('SELECT drop_daily_partition($1, $2)', [table, isoDay(start)]),
        ),
      );
    }
    await this.deleteExpired(`${table}_default`, oldestKept);
  }

  private async deleteExpired(table: string, oldestKept: Date): Promise<void> {
    await this.withoutTimeout((transaction) =>
      transaction.query(`DELETE FROM ${table} WHERE created_at < $1`, [oldestKept]),
    );
  }

  /** Creates the partition of a day, unless it exists. */
  private async create(table: string, start: Date): Promise<void> {
    if ((await this.partitionsOf(table)).has(partitionName(table, start))) return;
    await this.withTableLock((transaction) =>
      transaction.query('SELECT create_daily_partition($1, $2)', [table, isoDay(start)]),
    );
  }

  /**
   * Moves rows, the newest first, out of stray tables into the partitions of their days. A stray table is a former
   * default partition, which `create_daily_partition` replaces with an empty one if it holds rows. Rows past retention
   * are deleted. Rows of days without a partition, for example because of a wrong clock, return to the default
   * partition. If the process ends, the next rotation continues.
   */
  private async moveStrayRows(
    table: string,
    { oldestKept, newest }: { readonly oldestKept: Date; readonly newest: Date },
    tasks: Tasks,
  ): Promise<void> {
    const strays = await this.dataSource.query<{ name: string; blocks: number }[]>(
      `SELECT relname AS name, (pg_relation_size(oid) / current_setting('block_size')::int)::int AS blocks
         FROM pg_class
        WHERE relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = $1::regclass) AND relkind = 'r'
          AND starts_with(relname, $1 || '_stray_')
        ORDER BY relname`,
      [table],
    );
    for (const { name, blocks } of strays) {
      await this.deleteExpired(name, oldestKept);
      for (const day of await this.daysIn(name)) {
        if (day >= oldestKept && day <= newest) await tasks.run(() => this.create(table, day));
      }
      for (let end = blocks; end > 0; end -= BLOCKS_PER_MOVE) {
        const first = Math.max(0, end - BLOCKS_PER_MOVE);
        await this.withoutTimeout((transaction) =>
          transaction.query('SELECT move_stray_rows($1, $2, $3, $4)', [table, name, first, end]),
        );
      }
      await this.withTableLock((transaction) =>
        transaction.query('SELECT drop_stray_table($1, $2)', [table, name]),
      );
    }
  }

  private async daysIn(table: string): Promise<Date[]> {
    const rows = await this.withoutTimeout((transaction) =>
      transaction.query<{ day: Date }[]>(
        `SELECT DISTINCT date_trunc('day', created_at, 'UTC') AS day FROM ${table} ORDER BY day DESC`,
      ),
    );
    return rows.map(({ day }) => day);
  }

  /** Runs work without the statement timeout that applies to requests. */
  private withoutTimeout<Result>(work: (transaction: EntityManager) => Promise<Result>): Promise<Result> {
    return this.dataSource.transaction(async (transaction) => {
      await transaction.query('SET LOCAL statement_timeout = 0');
      return work(transaction);
    });
  }

  /** Runs statements that briefly lock the table exclusively. */
  private async withTableLock(work: (transaction: EntityManager) => Promise<unknown>): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.dataSource.transaction(async (transaction) => {
          // On a busy server, even creating an empty table can exceed the statement timeout of requests.
          await transaction.query(
            `SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'; SET LOCAL statement_timeout = 0`,
          );
          await work(transaction);
        });
        return;
      } catch (error) {
        if (attempt >= MAX_LOCK_ATTEMPTS || !isLockTimeout(error)) throw error;
        await pause(LOCK_RETRY_DELAY);
      }
    }
  }
}

/** Runs tasks one after another, and remembers those that failed. */
class Tasks {
  private readonly failures = new Map<() => Promise<void>, unknown>();

  async run(task: () => Promise<void>): Promise<void> {
    await task().catch((error: unknown) => this.failures.set(task, error));
  }

  get failed(): readonly (() => Promise<void>)[] {
    return [...this.failures.keys()];
  }

  throwFailures(message: string): void {
    const errors = [...this.failures.values()];
    if (errors.length === 0) return;
    const reasons = [...new Set(errors.map((error) => (error as Error).message))].join('; ');
    throw new AggregateError(errors, `${message}: ${reasons}`);
  }
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

function addDays(day: Date, days: number): Date {
  return new Date(day.getTime() + days * DAY);
}

function isoDay(time: Date): string {
  return time.toISOString().slice(0, 10);
}

function startOfDay(time: Date): Date {
  return new Date(Math.floor(time.getTime() / DAY) * DAY);
}

function partitionName(table: string, start: Date): string {
  return `${table}_${isoDay(start).replaceAll('-', '')}`;
}

/** Returns the day of a partition, or null for the default partition. */
function dayOf(partition: string): Date | null {
  const [, year, month, day] = /_(\d{4})(\d{2})(\d{2})$/.exec(partition) ?? [];
  return year ? new Date(`${year}-${month}-${day}T00:00:00Z`) : null;
}
