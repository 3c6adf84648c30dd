import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { ApiError, OperatorError } from '../../../infrastructure/errors/index.js';
import type { AttributedClient } from '../../../infrastructure/http/index.js';
import { Clock, MINUTE, SECOND, type Period } from '../../../infrastructure/time/index.js';
import { RequestLogRepository } from '../storage/request-log.repository.js';
import { MAX_LATENESS, type RequestLogPosition } from '../request-log-entry.js';
import type { RequestLogEntry } from '../request-logs.dto.js';
import { REQUEST_LOG_QUERY_TIMEOUT } from '../request-logs-errors.js';
import { resolvedPeriod } from '../request-log-period.js';

const ENTRIES_PER_BATCH = 1_000;
const REFRESH_INTERVAL = SECOND;
/** How far the clock of a process that writes entries may be ahead of ours. */
const MAX_CLOCK_SKEW = MINUTE;
const BEGINNING = new Date(0);

/** Reads the log of a client for operators: all entries of a period, or new entries as they arrive. */
@Injectable()
export class OperatorRequestLog {
  constructor(
    private readonly repository: RequestLogRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns all entries of a period, oldest first. They are read in batches, so that an export of any size needs little
   * memory. By default, the period ends now and is a day long.
   *
   * @throws OperatorError if the query times out
   */
  async *all(
    client: AttributedClient,
    bounds: { readonly start?: string; readonly end?: string },
  ): AsyncGenerator<RequestLogEntry> {
    const period = resolvedPeriod(bounds, this.clock.now());
    for await (const batch of this.batches(client, period)) yield* batch;
  }

  /**
   * Returns the newest entries, oldest first, and then new entries as they arrive. A late entry may be older than the
   * one before it.
   */
  async *follow(
    client: AttributedClient,
    { lines, until }: { readonly lines: number; readonly until: AbortSignal },
  ): AsyncGenerator<RequestLogEntry> {
    const recent = new RecentEntries();
    const newest = await this.newest(client, lines, recent);
    yield* newest;
    while (!until.aborted) {
      // Rejects when the signal aborts.
      await pause(REFRESH_INTERVAL, undefined, { signal: until }).catch(() => undefined);
      if (!until.aborted) yield* this.unseen(client, recent);
    }
  }

  /**
   * Returns the newest entries, oldest first. Also adds all recent entries to `recent`, so that later reads can recognize
   * new entries.
   */
  private async newest(
    client: AttributedClient,
    lines: number,
    recent: RecentEntries,
  ): Promise<RequestLogEntry[]> {
    const now = this.clock.now();
    const end = latestAt(now);
    const [last] = await this.newestBefore(client, end, 1);
    if (!last) return [];
    recent.add(last);
    const start = recent.unsettledSince(now);
    const entries: RequestLogEntry[] = [];
    for await (const batch of this.batches(client, { start, end })) {
      for (const entry of batch) recent.add(entry);
      entries.push(...batch);
      entries.splice(0, entries.length - lines);
    }
    if (entries.length >= lines) return entries;
    const settled = new Date(start.getTime() - 1);
    const older = await this.newestBefore(client, settled, lines - entries.length);
    return [...older.toReversed(), ...entries];
  }

  private async *unseen(client: AttributedClient, recent: RecentEntries): AsyncGenerator<RequestLogEntry> {
    const now = this.clock.now();
    const period = { start: recent.unsettledSince(now), end: latestAt(now) };
    for await (const batch of this.batches(client, period)) {
      for (const entry of batch) if (recent.add(entry)) yield entry;
      recent.forgetSettled(now);
    }
  }

  private async *batches(
    client: AttributedClient,
    period: Required<Period>,
  ): AsyncGenerator<RequestLogEntry[]> {
    let after: RequestLogPosition | undefined;
    do {
      const page = { after, limit: ENTRIES_PER_BATCH };
      const batch = await explainTimeout(this.repository.oldest({ client, period, filter: {} }, page));
      yield batch;
      after = batch.length < ENTRIES_PER_BATCH ? undefined : batch.at(-1);
    } while (after);
  }

  private newestBefore(client: AttributedClient, end: Date, limit: number): Promise<RequestLogEntry[]> {
    const period = { start: BEGINNING, end };
    return explainTimeout(
      this.repository.newest({ client, period, filter: {} }, { before: undefined, limit }),
    );
  }
}

/**
 * Remembers the last entries that were shown while following a log, so that reading the same period again finds late
 * entries but shows none twice. Entries more than 10 seconds older than the newest are forgotten, which limits memory.
 */
class RecentEntries {
  private readonly times = new Map<number, number>();
  /** The time of the newest entry. This process's clock may differ from the clocks of the processes that write. */
  private newest = 0;

  /** @returns whether the entry is new */
  add({ id, datetime }: RequestLogPosition): boolean {
    if (this.times.has(id)) return false;
    this.times.set(id, datetime.getTime());
    this.newest = Math.max(this.newest, datetime.getTime());
    return true;
  }

  /** Returns the time since which entries may be missing. An entry with a time in the future must not hide others. */
  unsettledSince(now: Date): Date {
    return new Date(Math.max(0, Math.min(this.newest, now.getTime()) - MAX_LATENESS));
  }

  forgetSettled(now: Date): void {
    const since = this.unsettledSince(now).getTime();
    for (const [id, time] of this.times) if (time < since) this.times.delete(id);
  }
}

function latestAt(now: Date): Date {
  return new Date(now.getTime() + MAX_CLOCK_SKEW);
}

const TIMEOUT =
  'The database took too long to read the request log. Retry the command, or increase REQUEST_LOG_QUERY_TIMEOUT_MS.';

/** Replaces the API's timeout error, which suggests narrower filters, with an error for operators. */
function explainTimeout<Result>(query: Promise<Result>): Promise<Result> {
  return query.catch((error: unknown) => {
    const isTimeout = error instanceof ApiError && error.code === REQUEST_LOG_QUERY_TIMEOUT.code;
    throw isTimeout ? new OperatorError(TIMEOUT, { cause: error }) : error;
  });
}
