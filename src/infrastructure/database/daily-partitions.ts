import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { DAY, SECOND } from '../time/index.js';
import { isLockTimeout } from './sql-state.js';

/** Partitions created in advance, so that a worker may be down for a weekend. */
const DAYS_AHEAD = 7;
/**
 * A statement that waits for a lock on the table blocks all later readers and writers. So it waits only briefly, and
 * retries after a pause in which a slow reader may finish.
 */
const LOCK_TIMEOUT = '200ms';
const MAX_LOCK_ATTEMPTS = 30;
const LOCK_RETRY_DELAY = SECOND;

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

  /** Creates the partitions of the coming days and drops those past retention. */
  async rotate(table: string, now: Date, retentionDays: number): Promise<void> {
    const partitions = await this.partitionsOf(table);
    const today = startOfDay(now);
    try {
      // First, because on a full disk this frees the space for the new ones.
      await this.dropExpired(table, partitions, new Date(today.getTime() - retentionDays * DAY));
    } finally {
      for (let day = -1; day <= DAYS_AHEAD; day += 1) {
        const start = new Date(today.getTime() + day * DAY);
        if (!partitions.has(partitionName(table, start))) await this.create(table, start);
      }
    }
  }

  /** Returns all partitions, oldest first, the default partition last. */
  async status(table: string): Promise<PartitionStatus[]> {
    const partitions = await this.dataSource.query<{ name: string; entries: string; bytes: string }[]>(
      `SELECT child.relname AS name, pg_total_relation_size(child.oid) AS bytes,
              -- reltuples is as old as the last ANALYZE; the statistics also count the rows since.
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

  private async dropExpired(
    table: string,
    partitions: ReadonlyMap<string, Date>,
    oldestKept: Date,
  ): Promise<void> {
    for (const [name, start] of partitions) {
      if (start < oldestKept)
        await this.withTableLock((transaction) => transaction.query(`DROP TABLE ${name}`));
    }
    await this.dataSource.query(`DELETE FROM ${table}_default WHERE created_at < $1`, [oldestKept]);
  }

  /** Moves the rows of that day out of the default partition first, as PostgreSQL requires. */
  private async create(table: string, start: Date): Promise<void> {
    const name = partitionName(table, start);
    const from = start.toISOString();
    const to = new Date(start.getTime() + DAY).toISOString();
    await this.withTableLock(async (transaction) => {
      // No row of that day may be added between moving the rows and attaching the partition.
      await transaction.query(`LOCK TABLE ${table}_default IN ACCESS EXCLUSIVE MODE`);
      await transaction.query(
        `CREATE TABLE ${name} (LIKE ${table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)`,
      );
      await transaction.query(
        `WITH stray AS (DELETE FROM ${table}_default WHERE created_at >= $1 AND created_at < $2 RETURNING *)
         INSERT INTO ${name} SELECT * FROM stray`,
        [from, to],
      );
      await transaction.query(
        `ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')`,
      );
    });
  }

  /** Runs statements that briefly lock the table exclusively. */
  private async withTableLock(work: (transaction: EntityManager) => Promise<unknown>): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.dataSource.transaction(async (transaction) => {
          await transaction.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
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

function startOfDay(time: Date): Date {
  return new Date(Math.floor(time.getTime() / DAY) * DAY);
}

function partitionName(table: string, start: Date): string {
  return `${table}_${start.toISOString().slice(0, 10).replaceAll('-', '')}`;
}

/** Returns the day of a partition, or null for the default partition. */
function dayOf(partition: string): Date | null {
  const [, year, month, day] = /_(\d{4})(\d{2})(\d{2})$/.exec(partition) ?? [];
  return year ? new Date(`${year}-${month}-${day}T00:00:00Z`) : null;
}
