import { Injectable } from '@nestjs/common';
import { settledId, Transaction } from '../../../infrastructure/database/index.js';
import { HOUR, SECOND, DAY } from '../../../infrastructure/time/index.js';
import { RequestLogRepository } from '../storage/request-log.repository.js';
import { ENTRY_COLUMNS, hoursOf, SLICE_OF_ENTRY, summaryOf, SUMMARY_COLUMNS } from './sql/rollup-rows.js';
import { earlier, startOf } from './time-slices.js';

/** Which part of the log the rollups cover. */
export interface RollupProgress {
  /** The rollups contain the entries since this time, … */
  readonly since: Date;
  /** … and before this one, … */
  readonly until: Date;
  /** … except for entries with a greater ID that were committed after their slice was rolled up. */
  readonly seenId: number;
}

/** How long to wait for the transactions that are writing entries. */
const SETTLEMENT_TIMEOUT = 5 * SECOND;

/**
 * The conditions of the primary key for the entries of all clients, so that PostgreSQL finds the entries of a short period by
 * one index lookup for each client. A distributed table cannot be joined with a subquery row by row, but can be read for a
 * list of clients.
 */
const OF_ALL_CLIENTS = `client_id = ANY (ARRAY(SELECT id FROM api_client))
  AND environment IN ('development', 'production')`;

const ENTRIES = `SELECT ${ENTRY_COLUMNS} FROM request_log
  WHERE ${OF_ALL_CLIENTS} AND created_at >= $1 AND created_at < $2`;

const INSERT_HOURS = `INSERT INTO request_log_hourly_rollup (${SUMMARY_COLUMNS})
  ${hoursOf('start >= $1 AND start < $2')}`;
const INSERT_SLICES = `INSERT INTO request_log_rollup (${SUMMARY_COLUMNS}) ${summaryOf(ENTRIES)}`;

const PROGRESS = 'SELECT since, until, seen_id AS "seenId" FROM request_log_rollup_progress';

interface ProgressRow extends Omit<RollupProgress, 'seenId'> {
  readonly seenId: string;
}

/** Writes the rollups, and records which part of the log they cover. */
@Injectable()
export class RequestLogRollupsRepository {
  constructor(
    private readonly transaction: Transaction,
    private readonly log: RequestLogRepository,
  ) {}

  /**
   * Returns an ID such that every entry with a smaller one is committed, or never will be. Waits for the transactions that
   * are writing entries; if one takes too long, returns undefined.
   */
  settledId(): Promise<number | undefined> {
    return settledId((...parameters) => this.query(...parameters), 'request_log', SETTLEMENT_TIMEOUT);
  }

  /** Starts the rollups at this time, unless they have started before. */
  async start(at: Date, settledId: number): Promise<void> {
    await this.query(
      `INSERT INTO request_log_rollup_progress (since, until, seen_id) VALUES ($1, $1, $2) ON CONFLICT DO NOTHING`,
      [at, settledId],
    );
  }

  async progress(): Promise<RollupProgress | undefined> {
    const [row] = await this.query<ProgressRow[]>(PROGRESS);
    return row && { ...row, seenId: Number(row.seenId) };
  }

  /**
   * Returns the progress, which no other process changes until the open transaction ends. Returns undefined if the rollups
   * have not started, and while a rotation is moving entries between partitions, because the log then lacks some of them.
   */
  async lockProgress(): Promise<RollupProgress | undefined> {
    await this.query(`SET LOCAL statement_timeout = '5min'; SET LOCAL jit = off`);
    if (!(await this.log.lockComplete())) return undefined;
    const [row] = await this.query<ProgressRow[]>(`${PROGRESS} FOR UPDATE`);
    return row && { ...row, seenId: Number(row.seenId) };
  }

  /** Replaces the rollups of the slices from `start` to `end`. They must not have entries after the hour of `start`. */
  async replaceSlices(start: Date, end: Date): Promise<void> {
    await this.query('DELETE FROM request_log_rollup WHERE start >= $1 AND start < $2', [start, end]);
    const endOfHour = new Date(startOf(HOUR, start).getTime() + HOUR);
    await this.query(INSERT_SLICES, [start, earlier(end, endOfHour)]);
  }

  /** Replaces the hourly rollups from `start` to `end`, both full hours, by those of the slices. */
  async replaceHours(start: Date, end: Date): Promise<void> {
    await this.query('DELETE FROM request_log_hourly_rollup WHERE start >= $1 AND start < $2', [start, end]);
    await this.query(INSERT_HOURS, [start, end]);
  }

  /** Returns the slices, among those rolled up, of entries with an ID above `seenId` and at most `upToId`. */
  async lateSlices({ since, until, seenId }: RollupProgress, upToId: number): Promise<Date[]> {
    // For the range of IDs there is a BRIN index.
    const rows = await this.query<{ start: Date }[]>(
      `SELECT DISTINCT ${SLICE_OF_ENTRY} AS start FROM request_log
        WHERE id > $1 AND id <= $2 AND created_at >= $3 AND created_at < $4 ORDER BY start`,
      [seenId, upToId, since, until],
    );
    return rows.map(({ start }) => start);
  }

  /** Returns the hour of the newest entry before this time on the same day (in UTC), or the start of the day if there is none. */
  async newestHourBefore(time: Date): Promise<Date> {
    const newest = new Date(time.getTime() - 1);
    const day = startOf(DAY, newest);
    if (!(await this.hasEntries(day, time))) return day;
    let hour = startOf(HOUR, newest);
    while (hour > day && !(await this.hasEntries(hour, time))) hour = new Date(hour.getTime() - HOUR);
    return hour;
  }

  async setSince(since: Date): Promise<void> {
    await this.query('UPDATE request_log_rollup_progress SET since = $1', [since]);
  }

  async setUntil(until: Date): Promise<void> {
    await this.query('UPDATE request_log_rollup_progress SET until = $1', [until]);
  }

  async setSeenId(id: number): Promise<void> {
    await this.query('UPDATE request_log_rollup_progress SET seen_id = greatest(seen_id, $1)', [id]);
  }

  async deleteBefore(time: Date): Promise<void> {
    const rows = { key: 'client_id, start, type', column: 'start', lock: '' } as const;
    for (const table of ['request_log_rollup', 'request_log_hourly_rollup'])
      await this.transaction.deleteBefore(time, { ...rows, table });
  }

  private async hasEntries(start: Date, end: Date): Promise<boolean> {
    const rows = await this.query<object[]>(
      `SELECT 1 FROM request_log WHERE ${OF_ALL_CLIENTS} AND created_at >= $1 AND created_at < $2 LIMIT 1`,
      [start, end],
    );
    return rows.length > 0;
  }

  private query<Result>(statement: string, parameters?: unknown[]): Promise<Result> {
    return this.transaction.manager.query<Result>(statement, parameters);
  }
}
