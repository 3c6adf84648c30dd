import { Injectable } from '@nestjs/common';
import { ReadPools, type ReadOptions, type ReadPool } from '../../../infrastructure/database/index.js';
import type { AttributedClient } from '../../../infrastructure/http/index.js';
import { HOUR, SECOND } from '../../../infrastructure/time/index.js';
import { RequestLogsConfiguration } from '../request-logs.configuration.js';
import { LogReads, OrganizationQueryQueue, withinTime } from '../storage/log-reads.js';
import type { RequestLogType } from '../request-log-entry.js';
import { ENTRY_COLUMNS, summaryOf, SUMMARY_COLUMNS } from './sql/rollup-rows.js';
import { earlier, later, nextFullHour, SLICE, startOf } from './time-slices.js';

/** Milliseconds that the query for trends may run or wait. It usually takes a few of them. */
const TRENDS_TIMEOUT = SECOND;

/** Entries with the same values of the fields that are not null. */
export interface EntryCount {
  readonly type: RequestLogType;
  /** The start of the point in milliseconds since 1970, or null for entries of the whole period. */
  readonly point: number | null;
  /** The operation or the webhook endpoint. */
  readonly target: string | null;
  readonly event: string | null;
  readonly status: number | null;
  readonly latencyBucket: number | null;
  readonly entries: number;
}

/** The entries of a client from `start`, at which a slice begins, to `end`, in points of `step` milliseconds. */
export interface CountedPeriod {
  readonly client: AttributedClient;
  readonly start: Date;
  readonly end: Date;
  readonly step: number;
}

/**
 * Parameters: client, environment, start, start of the part that is read from the log, end, step, start and end of the part
 * that is read from the hourly rollups.
 */
const SLICES = `
  WITH slice AS (
    SELECT ${SUMMARY_COLUMNS} FROM request_log_hourly_rollup WHERE client_id = $1 AND start >= $7 AND start < $8
    UNION ALL
    SELECT ${SUMMARY_COLUMNS} FROM request_log_rollup WHERE client_id = $1 AND start >= $3 AND start < $7
    UNION ALL
    SELECT ${SUMMARY_COLUMNS} FROM request_log_rollup WHERE client_id = $1 AND start >= $8 AND start < $4
    UNION ALL
    SELECT * FROM (${summaryOf(
      `SELECT ${ENTRY_COLUMNS} FROM request_log
        WHERE client_id = $1 AND environment = $2 AND created_at >= $4 AND created_at <= $5`,
    )}) live
  )`;

/** One JSON document takes the process a quarter of the time of several thousand rows. */
const COUNTS = `${SLICES}
  SELECT coalesce(json_agg(json_build_array(
           type, round(extract(epoch FROM point) * 1000), target, event, status, bucket, entries)), '[]') AS counts FROM (
  SELECT type, date_bin($6, start, $3) AS point, target, event, status, NULL::int AS bucket, sum(count)::float8 AS entries
    FROM slice CROSS JOIN LATERAL unnest(targets, events, statuses, counts) AS entry (target, event, status, count)
   GROUP BY GROUPING SETS ((type, date_bin($6, start, $3), status), (type, target, event, status))
  UNION ALL
  SELECT type, date_bin($6, start, $3), NULL, NULL, NULL, bucket, sum(count)::float8
    FROM slice CROSS JOIN LATERAL unnest(latency_buckets, latency_counts) AS entry (bucket, count)
   GROUP BY type, date_bin($6, start, $3), bucket) count`;

/** Parameters: those of `SLICES`, and the targets. An operation never has the name of an endpoint, which is a UUID. */
const TREND_COUNTS = `${SLICES}
  SELECT coalesce(json_agg(json_build_array(
           type, round(extract(epoch FROM point) * 1000), target, NULL, status, NULL, entries)), '[]') AS counts FROM (
  SELECT type, date_bin($6, start, $3) AS point, target, status, sum(count)::float8 AS entries
    FROM slice CROSS JOIN LATERAL unnest(targets, statuses, counts) AS entry (target, status, count)
   WHERE target = ANY ($9)
   GROUP BY 1, 2, 3, 4) count`;

/** Entries of these kinds; those that are undefined do not matter. */
export interface CountedEntries {
  readonly type?: RequestLogType | undefined;
  readonly target?: string | undefined;
  readonly event?: string | undefined;
}

/** Parameters: those of `SLICES`, and the type, the target and the event of the entries, or null. */
const POINT_COUNTS = `${SLICES}
  SELECT coalesce(json_agg(json_build_array(
           type, round(extract(epoch FROM point) * 1000), NULL, NULL, status, NULL, entries)), '[]') AS counts FROM (
  SELECT type, date_bin($6, start, $3) AS point, status, sum(count)::float8 AS entries
    FROM slice CROSS JOIN LATERAL unnest(targets, events, statuses, counts) AS entry (target, event, status, count)
   WHERE ($9::text IS NULL OR type = $9) AND ($10::text IS NULL OR target = $10) AND ($11::text IS NULL OR event = $11)
   GROUP BY 1, 2, 3) count`;

const PROGRESS = 'SELECT since, until FROM request_log_rollup_progress';

type CountTuple = [
  type: RequestLogType,
  point: number | null,
  target: string | null,
  event: string | null,
  status: number | null,
  latencyBucket: number | null,
  entries: number,
];

function toCount([type, point, target, event, status, latencyBucket, entries]: CountTuple): EntryCount {
  return { type, point, target, event, status, latencyBucket, entries };
}

/** Reads the rollups, and the end of the log that has none yet. */
@Injectable()
export class RequestLogOverviewRepository {
  private readonly overviews: ReadPool;
  private readonly trends: ReadPool;
  /** By pool and client: each pool has one connection for all. */
  private readonly queue: OrganizationQueryQueue;

  constructor(pools: ReadPools, configuration: RequestLogsConfiguration, reads: LogReads) {
    const { queryTimeoutMilliseconds } = configuration;
    this.queue = new OrganizationQueryQueue(configuration, reads);
    this.overviews = pools.open('request-log-overview', {
      connections: 1,
      timeoutMilliseconds: queryTimeoutMilliseconds,
      mayLag: true,
    });
    // Lists are shown without their trends rather than late: no list waits for the slow overview of another organization.
    this.trends = pools.open('request-log-trends', {
      connections: 1,
      timeoutMilliseconds: Math.min(queryTimeoutMilliseconds, TRENDS_TIMEOUT),
      mayLag: true,
    });
  }

  /**
   * Returns the counts by point and status, by target, event and status, and by point and latency.
   *
   * @returns `since`, before which entries are not counted yet, and the counts
   * @throws ApiError REQUEST_LOG_QUERY_TIMEOUT if a query exceeds the configured timeout, and those of `OrganizationQueryQueue`
   */
  async counts(period: CountedPeriod): Promise<{ since: Date; counts: readonly EntryCount[] }> {
    return this.queue.run(`overviews ${period.client.clientId}`, () =>
      this.read(this.overviews, COUNTS, period),
    );
  }

  /**
   * Returns the counts by target, point and status.
   *
   * @throws ApiError REQUEST_LOG_QUERY_TIMEOUT if a query exceeds `TRENDS_TIMEOUT` or the configured timeout, and those of
   * `OrganizationQueryQueue`
   */
  async trendCounts(period: CountedPeriod, targets: readonly string[]): Promise<readonly EntryCount[]> {
    const read = () => this.read(this.trends, TREND_COUNTS, period, [targets]);
    return (await this.queue.run(`trends ${period.client.clientId}`, read)).counts;
  }

  /**
   * Returns the counts by type, point and status.
   *
   * @throws ApiError REQUEST_LOG_QUERY_TIMEOUT if a query exceeds `TRENDS_TIMEOUT` or the configured timeout, and those of
   * `OrganizationQueryQueue`
   */
  async pointCounts(
    period: CountedPeriod,
    { type, target, event }: CountedEntries,
  ): Promise<readonly EntryCount[]> {
    const kind = [type ?? null, target ?? null, event ?? null];
    const read = () => this.read(this.trends, POINT_COUNTS, period, kind);
    return (await this.queue.run(`trends ${period.client.clientId}`, read)).counts;
  }

  private async read(
    pool: ReadPool,
    statement: string,
    period: CountedPeriod,
    more: readonly unknown[] = [],
  ): Promise<{ since: Date; counts: readonly EntryCount[] }> {
    const { client, start, end, step } = period;
    const { clientId, environment } = client;
    // In a statement of its own, so that PostgreSQL knows which part of the log it has to read when it plans the next one.
    // If `until` moves meanwhile, the rollups before the older value and the log after it are still all entries.
    const options: ReadOptions = {};
    const [progress] = await withinTime(pool.query<{ since: Date; until: Date }>(PROGRESS, [], options));
    const since = progress?.since ?? start;
    // The rollups of the last slice also count the entries after the end.
    const unrolled = earlier(later(progress?.until ?? start, start), startOf(SLICE, end));
    const areHours = step % HOUR === 0 && start.getTime() % HOUR === 0;
    const hours = areHours ? earlier(nextFullHour(later(since, start)), unrolled) : unrolled;
    const endOfHours = later(hours, startOf(HOUR, unrolled));
    const seconds = `${step / SECOND} seconds`;
    const parameters = [clientId, environment, start, unrolled, end, seconds, hours, endOfHours, ...more];
    const [row] = await withinTime(pool.query<{ counts: CountTuple[] }>(statement, parameters, options));
    return { since, counts: (row?.counts ?? []).map(toCount) };
  }
}
