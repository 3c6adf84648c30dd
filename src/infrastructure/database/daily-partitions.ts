import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { DAY, HOUR, SECOND } from '../time/index.js';
import { isCheckViolation, isLockTimeout } from './sql-state.js';

/** Number of days whose partitions are created in advance, so that the worker can be down for several days. */
const DAYS_AHEAD = 7;
/**
 * A statement that waits for a lock on the table blocks all later readers and writers. So it waits only briefly, and
 * retries after a pause in which a slow reader may finish. Dropping a partition waits twice, for the table and for the
 * partition, and must block others for less than 100 ms.
 */
const LOCK_TIMEOUT = '40ms';
const MAX_LOCK_ATTEMPTS = 30;
const MAX_LAST_ATTEMPTS = 4;
const LOCK_RETRY_DELAY = SECOND;
/** Blocks that one transaction moves out of a stray table, or deletes from: about 6,000 rows of the request log, which take a quarter of a second. */
const BLOCKS_PER_MOVE = 250;

export interface PartitionStatus {
  readonly name: string;
  /** Null for the default partition, and for one that holds all days before `to`. */
  readonly from: Date | null;
  /** Null for the default partition. */
  readonly to: Date | null;
  /** PostgreSQL's estimate; exact for the default partition. */
  readonly entries: number;
  /** Including its indexes. */
  readonly bytes: number;
}

export interface PartitionsOverview {
  readonly daysAhead: number;
  /** Start of the oldest partition; undefined if there is none. */
  readonly oldest: Date | undefined;
  readonly hasMisplacedRows: boolean;
}

export interface Retention {
  readonly days: number;
  /**
   * The column with the time from which on a row is kept for so many days; the default is `created_at`. The rows of a table
   * with such a column are looked up at any time, so they are never moved: while rows of the default partition wait to be
   * moved, nobody finds them. A day that has rows in the default partition gets no partition.
   */
  readonly expiryColumn?: string;
}

interface Rotation {
  readonly table: string;
  readonly now: Date;
  readonly oldest: Date;
  readonly newest: Date;
  readonly expiryColumn: string | undefined;
}

/** A table, and the number of its blocks. */
interface Blocks {
  readonly name: string;
  readonly blocks: number;
}

interface Days {
  /** Null if there is no lower bound. */
  readonly from: Date | null;
  readonly to: Date;
}

/**
 * Maintains a table that is partitioned by `created_at`: one partition per day in UTC (`<table>_YYYYMMDD`), and a
 * default partition for rows of other days (`<table>_default`). `<table>_until_YYYYMMDD` holds the rows from before the
 * table was partitioned.
 */
@Injectable()
export class DailyPartitions {
  private readonly stopping = new AbortController();

  constructor(private readonly dataSource: DataSource) {}

  /** Ends a rotation after its statement: another process continues it. */
  stop(): void {
    this.stopping.abort();
  }

  /** Creates the partition of the present day, if it is missing. */
  createToday(table: string, now: Date, { expiryColumn }: Retention): Promise<void> {
    return this.create({ table, now, expiryColumn }, startOf(now));
  }

  /**
   * Creates the partitions of the coming days, drops those past retention, and moves rows out of the default partition.
   * If one day fails, the others are still processed.
   *
   * @param prepareDeletion deletes what depends on partitions past retention, and returns the time from which on retention is counted
   *   back; if it fails, nothing is deleted
   * @throws AggregateError with all failures, after everything else was done
   */
  async rotate(
    table: string,
    now: Date,
    { days, expiryColumn }: Retention,
    prepareDeletion: () => Promise<Date> = () => Promise.resolve(now),
  ): Promise<void> {
    const today = startOf(now);
    const oldest = addDays(today, -days);
    const newest = addDays(today, DAYS_AHEAD);
    const rotation = { table, now, oldest, newest, expiryColumn };
    const creation = new Tasks();
    for (const offset of [0, 1, -1, ...range(2, DAYS_AHEAD)])
      await creation.run(() => this.create(rotation, addDays(today, offset)));
    // Dropping old partitions before the retry frees the space that new ones need on a full disk.
    const tasks = new Tasks();
    let oldestKept: Date | undefined;
    await tasks.run(async () => {
      oldestKept = addDays(startOf(await prepareDeletion()), -days);
      await this.dropExpired(rotation, oldestKept, tasks);
    });
    for (const retry of creation.failed) await tasks.run(retry);
    if (expiryColumn === undefined) await tasks.run(() => this.moveStrayRows(rotation, oldestKept, tasks));
    tasks.throwFailures(`The partitions of ${table} are not complete`);
  }

  /** Returns whether rows of any table are outside of its partitions for a while, where queries do not find them. */
  async isMovingRows(): Promise<boolean> {
    const strays = await this.dataSource.query<object[]>(
      `SELECT FROM pg_class stray JOIN pg_class parent USING (relnamespace)
        WHERE stray.relkind = 'r' AND parent.relkind = 'p'
          AND starts_with(stray.relname, parent.relname || '_stray_')`,
    );
    return strays.length > 0;
  }

  /** Returns all partitions, oldest first, the default partition last. */
  async status(table: string): Promise<PartitionStatus[]> {
    const partitions = await this.dataSource.query<{ name: string; entries: string; bytes: string }[]>(
      `SELECT relname AS name, bytes, entries
         FROM relation_sizes(ARRAY(SELECT inhrelid FROM pg_inherits WHERE inhparent = $1::regclass))
         JOIN pg_class ON oid = relation ORDER BY name`,
      [table],
    );
    const [misplaced] = await this.dataSource.query<{ entries: string }[]>(
      `SELECT count(*) AS entries FROM ${table}_default`,
    );
    return partitions.map(({ name, entries, bytes }) => {
      const days = daysOf(name);
      return {
        name,
        from: days?.from ?? null,
        to: days?.to ?? null,
        entries: Number(days ? entries : misplaced?.entries),
        bytes: Number(bytes),
      };
    });
  }

  async overview(table: string, now: Date): Promise<PartitionsOverview> {
    const [partitions, misplaced] = await Promise.all([
      this.partitionsOf(table),
      this.dataSource.query<object[]>(`SELECT 1 FROM ${table}_default LIMIT 1`),
    ]);
    const starts = [...partitions.values()]
      .flatMap(({ from }) => from ?? [])
      .toSorted((left, right) => left.getTime() - right.getTime());
    return {
      daysAhead: starts.filter((start) => start > now).length,
      oldest: starts[0],
      hasMisplacedRows: misplaced.length > 0,
    };
  }

  private async partitionsOf(table: string): Promise<Map<string, Days>> {
    const rows = await this.dataSource.query<{ name: string }[]>(
      `SELECT child.relname AS name FROM pg_inherits
         JOIN pg_class child ON child.oid = pg_inherits.inhrelid
        WHERE pg_inherits.inhparent = $1::regclass`,
      [table],
    );
    return new Map(
      rows.flatMap(({ name }) => {
        const days = daysOf(name);
        return days ? [[name, days] as const] : [];
      }),
    );
  }

  private async dropExpired(
    { table, expiryColumn }: Rotation,
    oldestKept: Date,
    tasks: Tasks,
  ): Promise<void> {
    for (const [name, { to }] of await this.partitionsOf(table)) {
      if (to > oldestKept) continue;
      await tasks.run(async () => {
        if (expiryColumn !== undefined && (await this.hasRowsSince(name, expiryColumn, oldestKept))) return;
        await this.locking('drop_partition($1, $2)', table, name);
      });
    }
    const measured = await this.untimed<Blocks>(
      'SELECT relation::text AS name, blocks::int FROM relation_sizes(ARRAY[$1::regclass])',
      `${table}_default`,
    );
    for (const rows of measured) await this.deleteExpired(rows, oldestKept, expiryColumn);
  }

  private async hasRowsSince(table: string, column: string, time: Date): Promise<boolean> {
    const rows = await this.untimed<object>(`SELECT FROM ${table} WHERE ${column} >= $1 LIMIT 1`, time);
    return rows.length > 0;
  }

  private async deleteExpired({ name, blocks }: Blocks, time: Date, column = 'created_at'): Promise<void> {
    for (let first = 0; first < blocks; first += BLOCKS_PER_MOVE)
      await this.untimed(
        `DELETE FROM ${name} WHERE ctid >= $2::tid AND ctid < $3::tid AND ${column} < $1`,
        time,
        `(${first},0)`,
        `(${first + BLOCKS_PER_MOVE},0)`,
      );
  }

  private async create(
    { table, now, expiryColumn }: Pick<Rotation, 'table' | 'now' | 'expiryColumn'>,
    start: Date,
  ): Promise<void> {
    const partitions = [...(await this.partitionsOf(table)).values()];
    if (partitions.some(({ from, to }) => (from === null || from <= start) && start < to)) return;
    if (expiryColumn === undefined)
      await this.locking('create_daily_partition($1, $2)', table, isoDay(start));
    else await this.createBeside(table, start, now);
  }

  /** Creates the partition of a day, unless the default partition has rows of the day, and moves no rows. */
  private async createBeside(table: string, start: Date, now: Date): Promise<void> {
    const others = await this.dataSource.query<object[]>(`SELECT FROM ${table}_default LIMIT 1`);
    // A process that was killed may have left it closed.
    if (others.length > 0) await this.locking('open_default_partition($1)', table);
    // The default partition must not be closed for a day on which rows are written.
    if (others.length > 0 && start.getTime() < now.getTime() + HOUR) return;
    try {
      if (others.length > 0) {
        await this.locking('close_default_partition($1, $2)', table, isoDay(start));
        await this.untimed('SELECT check_default_partition($1)', table);
      }
      await this.locking('attach_daily_partition($1, $2)', table, isoDay(start));
    } catch (error) {
      // This is done even while the process stops: rows of the day would be refused until the next rotation.
      await this.lockingAlways('open_default_partition($1)', table);
      if (!isCheckViolation(error)) throw error;
    }
  }

  /**
   * Moves rows, the newest first, out of stray tables into the partitions of their days. A stray table is a former
   * default partition, which `create_daily_partition` replaces with an empty one if it holds rows. Rows past retention
   * are deleted, unless nothing may be. Rows of days without a partition, for example because of a wrong clock, return to the default
   * partition. If the process ends, the next rotation continues.
   */
  private async moveStrayRows(rotation: Rotation, oldestKept: Date | undefined, tasks: Tasks): Promise<void> {
    const { table, oldest, newest } = rotation;
    const strays = await this.untimed<Blocks>(
      `SELECT relname AS name, blocks::int
         FROM relation_sizes(ARRAY(
                SELECT oid FROM pg_class
                 WHERE relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = $1::regclass) AND relkind = 'r'
                   AND starts_with(relname, $1 || '_stray_')))
         JOIN pg_class ON oid = relation
        ORDER BY relname`,
      table,
    );
    for (const { name, blocks } of strays) {
      if (oldestKept) await this.deleteExpired({ name, blocks }, oldestKept);
      for (const day of await this.daysIn(name)) {
        if (day >= oldest && day <= newest) await tasks.run(() => this.create(rotation, day));
      }
      for (let end = blocks; end > 0; end -= BLOCKS_PER_MOVE) {
        const first = Math.max(0, end - BLOCKS_PER_MOVE);
        await this.untimed('SELECT move_stray_rows($1, $2, $3, $4)', table, name, first, end);
      }
      await this.locking('drop_stray_table($1, $2)', table, name);
    }
  }

  private async daysIn(table: string): Promise<Date[]> {
    const rows = await this.untimed<{ day: Date }>(
      `SELECT DISTINCT date_trunc('day', created_at, 'UTC') AS day FROM ${table} ORDER BY day DESC`,
    );
    return rows.map(({ day }) => day);
  }

  /** Runs a statement without the timeout that applies to requests. */
  private async untimed<Row>(statement: string, ...values: unknown[]): Promise<Row[]> {
    this.stopping.signal.throwIfAborted();
    return this.dataSource.transaction(async (transaction) => {
      await transaction.query('SET LOCAL statement_timeout = 0');
      return transaction.query(statement, values);
    });
  }

  /** Calls a function that briefly locks the table exclusively, unless the process stops. */
  private async locking(call: string, ...values: string[]): Promise<void> {
    this.stopping.signal.throwIfAborted();
    await this.lockingAlways(call, ...values);
  }

  private async lockingAlways(call: string, ...values: string[]): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.dataSource.transaction(async (transaction) => {
          // On a busy server, even creating an empty table can exceed the statement timeout of requests.
          await transaction.query(
            `SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'; SET LOCAL statement_timeout = 0`,
          );
          await transaction.query(`SELECT ${call}`, values);
        });
        return;
      } catch (error) {
        // A process that stops has a few seconds.
        const attempts = this.stopping.signal.aborted ? MAX_LAST_ATTEMPTS : MAX_LOCK_ATTEMPTS;
        if (attempt >= attempts || !isLockTimeout(error)) throw error;
        await pause(LOCK_RETRY_DELAY);
      }
    }
  }
}

/** Returns the number of rows in the default partition. */
export function countMisplaced(partitions: readonly PartitionStatus[]): number {
  return partitions.find(({ from, to }) => from === null && to === null)?.entries ?? 0;
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

function startOf(time: Date): Date {
  return new Date(Math.floor(time.getTime() / DAY) * DAY);
}

function addDays(day: Date, days: number): Date {
  return new Date(day.getTime() + days * DAY);
}

function isoDay(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/** Returns the days of a partition, or undefined for the default partition. */
function daysOf(partition: string): Days | undefined {
  const day = dayOf(partition);
  if (!day) return undefined;
  return partition.includes('_until_') ? { from: null, to: day } : { from: day, to: addDays(day, 1) };
}

/** Returns the day in the name of a partition, or null for the default partition. */
function dayOf(partition: string): Date | null {
  const [, year, month, day] = /_(\d{4})(\d{2})(\d{2})$/.exec(partition) ?? [];
  return year ? new Date(`${year}-${month}-${day}T00:00:00Z`) : null;
}
