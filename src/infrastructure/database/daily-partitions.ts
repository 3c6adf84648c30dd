import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { DAY, SECOND } from '../time/index.js';
import { isLockTimeout } from './sql-state.js';

/** Partitions made ahead, so that a worker that is down for a weekend does no harm. */
const DAYS_AHEAD = 7;
/**
 * Whoever waits for a lock on the table holds up everybody who comes after, readers and writers. So the wait is
 * short, a slow reader is given time to end, and then it is tried again.
 */
const LOCK_TIMEOUT = '200ms';
const LOCK_ATTEMPTS = 30;
const LOCK_PAUSE = SECOND;

/** A partition as an operator sees it. */
export interface PartitionStatus {
  readonly name: string;
  /** Null of the default partition. */
  readonly from: Date | null;
  readonly to: Date | null;
  /** As PostgreSQL estimates it; of the default partition exactly. */
  readonly entries: number;
  /** With its indexes. */
  readonly bytes: number;
}

/** How a table that is partitioned by day stands. */
export interface PartitionsOverview {
  /** Days after today that have their partition. */
  readonly daysAhead: number;
  /** Where the oldest of them begins; undefined when there is none. */
  readonly oldest: Date | undefined;
  /** Whether rows had to go to the default partition. */
  readonly hasStrays: boolean;
}

/**
 * Keeps a table that is partitioned by `created_at`, a partition for each day in UTC (`<table>_YYYYMMDD`) and one
 * for strays (`<table>_default`).
 */
@Injectable()
export class DailyPartitions {
  constructor(private readonly dataSource: DataSource) {}

  /** Makes room for the rows of the coming days and lets go of those past retention. */
  async rotate(table: string, now: Date, retentionDays: number): Promise<void> {
    const partitions = await this.partitionsOf(table);
    const today = startOfDay(now);
    try {
      // First, because on a full disk this makes room for the others.
      await this.letGo(table, partitions, new Date(today.getTime() - retentionDays * DAY));
    } finally {
      for (let day = -1; day <= DAYS_AHEAD; day += 1) {
        const start = new Date(today.getTime() + day * DAY);
        if (!partitions.has(partitionName(table, start))) await this.create(table, start);
      }
    }
  }

  /** All partitions, oldest first, the default one last. */
  async status(table: string): Promise<PartitionStatus[]> {
    const partitions = await this.dataSource.query<{ name: string; entries: string; bytes: string }[]>(
      `SELECT child.relname AS name, pg_total_relation_size(child.oid) AS bytes,
              -- What was counted since the last ANALYZE is nearer than what was estimated then.
              greatest(child.reltuples, pg_stat_get_live_tuples(child.oid))::bigint AS entries
         FROM pg_inherits JOIN pg_class child ON child.oid = pg_inherits.inhrelid
        WHERE pg_inherits.inhparent = $1::regclass ORDER BY name`,
      [table],
    );
    const [strays] = await this.dataSource.query<{ entries: string }[]>(
      `SELECT count(*) AS entries FROM ${table}_default`,
    );
    return partitions.map(({ name, entries, bytes }) => {
      const from = dayOf(name);
      return {
        name,
        from,
        to: from && new Date(from.getTime() + DAY),
        entries: Number(from ? entries : strays?.entries),
        bytes: Number(bytes),
      };
    });
  }

  async overview(table: string, now: Date): Promise<PartitionsOverview> {
    const [partitions, strays] = await Promise.all([
      this.partitionsOf(table),
      this.dataSource.query<object[]>(`SELECT FROM ${table}_default LIMIT 1`),
    ]);
    const starts = [...partitions.values()].toSorted((left, right) => left.getTime() - right.getTime());
    return {
      daysAhead: starts.filter((start) => start > now).length,
      oldest: starts[0],
      hasStrays: strays.length > 0,
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

  private async letGo(table: string, partitions: ReadonlyMap<string, Date>, oldestKept: Date): Promise<void> {
    for (const [name, start] of partitions) {
      if (start < oldestKept) await this.locking((transaction) => transaction.query(`DROP TABLE ${name}`));
    }
    await this.dataSource.query(`DELETE FROM ${table}_default WHERE created_at < $1`, [oldestKept]);
  }

  /** Rows of that day that had to go to the default partition move over; PostgreSQL insists on it. */
  private async create(table: string, start: Date): Promise<void> {
    const name = partitionName(table, start);
    const from = start.toISOString();
    const to = new Date(start.getTime() + DAY).toISOString();
    await this.locking(async (transaction) => {
      // Nobody may add one between moving them and attaching the partition.
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

  /** Runs work that locks the table out of everybody's hands for a moment. */
  private async locking(work: (transaction: EntityManager) => Promise<unknown>): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.dataSource.transaction(async (transaction) => {
          await transaction.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
          await work(transaction);
        });
        return;
      } catch (error) {
        if (attempt >= LOCK_ATTEMPTS || !isLockTimeout(error)) throw error;
        await pause(LOCK_PAUSE);
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

/** The day of a partition; null of the default one. */
function dayOf(partition: string): Date | null {
  const [, year, month, day] = /_(\d{4})(\d{2})(\d{2})$/.exec(partition) ?? [];
  return year ? new Date(`${year}-${month}-${day}T00:00:00Z`) : null;
}
