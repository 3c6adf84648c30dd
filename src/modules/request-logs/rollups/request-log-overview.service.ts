import { Injectable } from '@nestjs/common';
import type { AttributedClient } from '../../../infrastructure/http/index.js';
import type { HistogramPoint } from '../../../infrastructure/pages/index.js';
import { TimestampField } from '../../../infrastructure/validation/index.js';
import { Clock, DAY, HOUR, MINUTE } from '../../../infrastructure/time/index.js';
import { validPeriod } from '../request-log-period.js';
import { unlessBusy } from '../storage/log-reads.js';
import type { RequestLogType } from '../request-log-entry.js';
import {
  RequestLogOverviewRepository,
  type CountedEntries,
  type CountedPeriod,
  type EntryCount,
} from './request-log-overview.repository.js';
import { latencyOfBucket } from './sql/rollup-rows.js';
import { SLICE, startOf } from './time-slices.js';

export interface OutcomeCounts {
  readonly total: number;
  /** API requests with a status below 400, and delivery attempts to which the endpoint responded with 200. */
  readonly succeeded: number;
  readonly failed: number;
  readonly status2xx: number;
  readonly status3xx: number;
  readonly status4xx: number;
  /** Includes statuses that HTTP does not define. */
  readonly status5xx: number;
}

/** Milliseconds, within 10 %; null if there are no entries. */
interface LatencyPercentiles {
  readonly p50: number | null;
  readonly p95: number | null;
}

interface PeriodCounts extends OutcomeCounts, LatencyPercentiles {
  /** The share of failed entries, 0 to 1; null if there are no entries. */
  readonly errorRate: number | null;
}

/** The entries since `start`, until the start of the next point. */
interface OverviewPoint extends PeriodCounts {
  readonly start: Date;
}

/** Entries with the same value. It is null for the rarest ones if there are very many values. */
type CountsOf<Value extends string> = OutcomeCounts & Readonly<Record<Value, string | null>>;

/** The content of the log of a client. All lists of a period are complete: points without entries are zero. */
export interface RequestLogOverview {
  readonly start: Date;
  readonly end: Date;
  /** Milliseconds from a point to the next. The last point ends at `end`. */
  readonly step: number;
  /** If not null, the entries before this time are not counted yet, because the service was upgraded just now. */
  readonly incompleteBefore: Date | null;
  readonly requests: PeriodCounts & {
    readonly points: readonly OverviewPoint[];
    /** The method and the path, with `{id}` in place of IDs; the most frequent first. */
    readonly operations: readonly CountsOf<'operation'>[];
  };
  readonly deliveries: PeriodCounts & {
    readonly points: readonly OverviewPoint[];
    /** The most frequent first. */
    readonly endpoints: readonly CountsOf<'endpointId'>[];
    readonly events: readonly CountsOf<'event'>[];
  };
}

/** The entries of one operation or webhook endpoint, by point. */
export interface Trend {
  readonly succeeded: readonly number[];
  readonly failed: readonly number[];
  /** The numbers of failed entries that are API requests with a status of 4xx. */
  readonly rejected: readonly number[];
}

export interface TrendsQuery {
  /** Must belong to the organization of the user, as the clients of `AccessibleClients` do. */
  readonly client: AttributedClient;
  readonly period: OverviewPeriod | OverviewQuery;
  /** Operations as in an overview, and IDs of webhook endpoints. */
  readonly targets: readonly string[];
}

/** Lengths of overviews that end now, and of their points, which are multiples of a slice. */
const PERIODS = {
  '1h': { length: HOUR, step: SLICE },
  '24h': { length: DAY, step: 30 * MINUTE },
  '7d': { length: 7 * DAY, step: 3 * HOUR },
} as const;

export type OverviewPeriod = keyof typeof PERIODS;
export const OVERVIEW_PERIODS = Object.keys(PERIODS) as readonly OverviewPeriod[];

/** The bounds of an overview that does not end now. */
export class OverviewQuery {
  @TimestampField({ in: 'form', required: false })
  start?: string;

  @TimestampField({ in: 'form', required: false })
  end?: string;
}

/** Summarizes the request log of a client for the dashboard. */
@Injectable()
export class RequestLogOverviewService {
  constructor(
    private readonly repository: RequestLogOverviewRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Counts the entries of a client in the last hour, 24 hours or 7 days, which start with a whole point and so are up to one
   * point shorter, or between two times. These start with a whole slice, or with a whole hour if the points have hours, and so
   * are up to that much longer.
   *
   * @throws ApiError INVALID_FIELD if the period is not valid
   * @throws ApiError REQUEST_LOG_QUERY_TIMEOUT if a query exceeds the configured timeout
   */
  async overview({ client, period }: Omit<TrendsQuery, 'targets'>): Promise<RequestLogOverview> {
    const counted = countedPeriod(period, this.clock.now());
    const { start, end, step } = counted;
    const { since, counts } = await this.repository.counts({ client, ...counted });
    const starts = startsOf(counted);
    return {
      start,
      end,
      step,
      incompleteBefore: since > start ? since : null,
      requests: {
        ...sectionOf('request', starts, counts),
        operations: countsBy('operation', 'request', counts, ({ target }) => target),
      },
      deliveries: {
        ...sectionOf('webhook', starts, counts),
        endpoints: countsBy('endpointId', 'webhook', counts, ({ target }) => target),
        events: countsBy('event', 'webhook', counts, ({ event }) => event),
      },
    };
  }

  /**
   * Counts the entries of several operations and endpoints with one query, for lists of them.
   *
   * @returns undefined if the request log is too busy, because the list must still be shown
   */
  async trends({ client, period, targets }: TrendsQuery): Promise<ReadonlyMap<string, Trend> | undefined> {
    if (targets.length === 0) return new Map();
    const counted = countedPeriod(period, this.clock.now());
    const starts = startsOf(counted);
    const counts = await unlessBusy(this.repository.trendCounts({ client, ...counted }, targets));
    const byTarget = counts && groupedBy(counts, ({ target }) => target);
    return byTarget && new Map(targets.map((each) => [each, trendOf(starts, byTarget.get(each) ?? [])]));
  }

  /**
   * Counts the entries of a period by point, for the histogram of a list.
   *
   * @returns undefined if the request log is too busy, because the list must still be shown
   */
  async histogram(
    client: AttributedClient,
    bounds: OverviewQuery,
    entries: CountedEntries,
  ): Promise<HistogramPoint[] | undefined> {
    const counted = countedPeriod(bounds, this.clock.now());
    const counts = await unlessBusy(this.repository.pointCounts({ client, ...counted }, entries));
    if (!counts) return undefined;
    const { succeeded, failed, rejected } = trendOf(startsOf(counted), counts);
    return startsOf(counted).map((start, index, all) => ({
      start,
      end: all[index + 1] ?? counted.end,
      succeeded: succeeded[index] ?? 0,
      failed: failed[index] ?? 0,
      rejected: rejected[index] ?? 0,
    }));
  }
}

function trendOf(starts: readonly Date[], counts: readonly EntryCount[]): Trend {
  const byPoint = groupedBy(counts, ({ point }) => point);
  const points = starts.map((start) => byPoint.get(start.getTime()) ?? []);
  const isRequest = ({ type }: EntryCount): boolean => type === 'request';
  return {
    succeeded: points.map((each) => outcomesOf(each).succeeded),
    failed: points.map((each) => outcomesOf(each).failed),
    rejected: points.map((each) => outcomesOf(each.filter(isRequest)).status4xx),
  };
}

function startsOf({ start, end, step }: Omit<CountedPeriod, 'client'>): Date[] {
  const starts = [start];
  for (let time = start.getTime() + step; time < end.getTime(); time += step) starts.push(new Date(time));
  return starts;
}

function countedPeriod(period: OverviewPeriod | OverviewQuery, now: Date): Omit<CountedPeriod, 'client'> {
  return typeof period === 'string' ? lately(period, now) : between(period, now);
}

function lately(period: OverviewPeriod, end: Date): Omit<CountedPeriod, 'client'> {
  const { length, step } = PERIODS[period];
  return { start: new Date(Math.ceil((end.getTime() - length) / step) * step), end, step };
}

function between(bounds: OverviewQuery, now: Date): Omit<CountedPeriod, 'client'> {
  const { start, end } = validPeriod(bounds, now);
  const length = end.getTime() - start.getTime();
  const { step } = Object.values(PERIODS).find((each) => length <= each.length) ?? PERIODS['7d'];
  // Points of whole hours are read from the rollups of hours, which are fewer.
  return { start: startOf(step % HOUR === 0 ? HOUR : SLICE, start), end, step };
}

/** Returns the overview of one kind of entries: its points, and its totals. */
function sectionOf(
  type: RequestLogType,
  starts: readonly Date[],
  all: readonly EntryCount[],
): PeriodCounts & { readonly points: OverviewPoint[] } {
  const counts = all.filter((count) => count.type === type && count.point !== null);
  const byPoint = groupedBy(counts, ({ point }) => point);
  return {
    ...periodCounts(counts),
    points: starts.map((start) => ({ start, ...periodCounts(byPoint.get(start.getTime()) ?? []) })),
  };
}

/** Returns the entries of one kind by a value, the most frequent first. */
function countsBy<Value extends string>(
  name: Value,
  type: RequestLogType,
  all: readonly EntryCount[],
  valueOf: (count: EntryCount) => string | null,
): CountsOf<Value>[] {
  const counts = all.filter((count) => count.type === type && count.point === null);
  return [...groupedBy(counts, valueOf)]
    .map(([value, group]) => ({ [name]: value, ...outcomesOf(group) }) as CountsOf<Value>)
    .toSorted((left, right) => right.total - left.total);
}

function groupedBy<Key>(
  counts: readonly EntryCount[],
  keyOf: (count: EntryCount) => Key,
): Map<Key, EntryCount[]> {
  const groups = new Map<Key, EntryCount[]>();
  for (const count of counts) {
    const group = groups.get(keyOf(count)) ?? [];
    group.push(count);
    groups.set(keyOf(count), group);
  }
  return groups;
}

function periodCounts(counts: readonly EntryCount[]): PeriodCounts {
  const outcomes = outcomesOf(counts);
  const { failed, total } = outcomes;
  return { ...outcomes, errorRate: total === 0 ? null : failed / total, ...percentilesOf(counts) };
}

function outcomesOf(counts: readonly EntryCount[]): OutcomeCounts {
  const sum = (condition: (count: EntryCount) => boolean): number =>
    counts.reduce((total, each) => total + (each.status !== null && condition(each) ? each.entries : 0), 0);
  const total = sum(() => true);
  // A status is 200, or the first digit of another one: see `summaryOf`.
  const succeeded = sum(
    ({ type, status }) => status === 200 || (type === 'request' && (status === 2 || status === 3)),
  );
  return {
    total,
    succeeded,
    failed: total - succeeded,
    status2xx: sum(({ status }) => status === 200 || status === 2),
    status3xx: sum(({ status }) => status === 3),
    status4xx: sum(({ status }) => status === 4),
    status5xx: sum(({ status }) => status === 5),
  };
}

function percentilesOf(counts: readonly EntryCount[]): LatencyPercentiles {
  const entriesIn = new Map<number, number>();
  for (const { latencyBucket, entries } of counts) {
    if (latencyBucket !== null) entriesIn.set(latencyBucket, (entriesIn.get(latencyBucket) ?? 0) + entries);
  }
  const buckets = [...entriesIn].toSorted(([left], [right]) => left - right);
  const total = buckets.reduce((sum, [, entries]) => sum + entries, 0);
  const percentile = (share: number): number | null => {
    let below = 0;
    const found = buckets.find(([, entries]) => (below += entries) >= total * share);
    return found ? latencyOfBucket(found[0]) : null;
  };
  return { p50: percentile(0.5), p95: percentile(0.95) };
}
