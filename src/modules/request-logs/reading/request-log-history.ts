import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { ApiError, OperatorError } from '../../../infrastructure/errors/index.js';
import type { AttributedClient } from '../../../infrastructure/http/index.js';
import { Clock, MINUTE, SECOND, type Period } from '../../../infrastructure/time/index.js';
import { RecentEntries } from './recent-entries.js';
import { REQUEST_LOG_QUERY_TIMEOUT } from '../request-log-errors.js';
import { resolvedPeriod } from './request-log-period.js';
import {
  RequestLogStore,
  type RequestLogEntry,
  type RequestLogPosition,
} from '../storage/request-log-store.js';
import { toDetailedResponse } from './request-log-response.js';
import type { SingleRequestLogEntryResponse } from './request-logs.dto.js';

const ENTRIES_PER_BATCH = 1_000;
const REFRESH_INTERVAL = SECOND;
/** How far the clock of a process that writes entries may be ahead of ours. */
const AHEAD = MINUTE;
const BEGINNING = new Date(0);

/** Reads the log of a client for operators: all of a period, or what comes in. */
@Injectable()
export class RequestLogHistory {
  constructor(
    private readonly store: RequestLogStore,
    private readonly clock: Clock,
  ) {}

  /**
   * All entries of a period, oldest first, a batch at a time: an export of any size needs little memory. The
   * period ends now and begins a day before its end where nothing else is said.
   *
   * @throws OperatorError when the store is too slow, as all that is read here
   */
  async *all(
    client: AttributedClient,
    bounds: { readonly start?: string; readonly end?: string },
  ): AsyncGenerator<SingleRequestLogEntryResponse> {
    const period = resolvedPeriod(bounds, this.clock.now());
    for await (const batch of this.batches(client, period)) yield* batch.map(toDetailedResponse);
  }

  /**
   * The newest entries, oldest first, and then those that come in, as they do: a late one may be older than the
   * one before it.
   */
  async *follow(
    client: AttributedClient,
    { lines, until }: { readonly lines: number; readonly until: AbortSignal },
  ): AsyncGenerator<SingleRequestLogEntryResponse> {
    const recent = new RecentEntries();
    const newest = await this.newest(client, lines, recent);
    yield* newest.map(toDetailedResponse);
    while (!until.aborted) {
      // Rejects when it is told to stop.
      await pause(REFRESH_INTERVAL, undefined, { signal: until }).catch(() => undefined);
      if (!until.aborted) yield* this.unseen(client, recent);
    }
  }

  /** Everything of the last moments is read, or it could not be told later from what comes in. */
  private async newest(
    client: AttributedClient,
    lines: number,
    recent: RecentEntries,
  ): Promise<RequestLogEntry[]> {
    const now = this.clock.now();
    const end = soonAfter(now);
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

  private async *unseen(
    client: AttributedClient,
    recent: RecentEntries,
  ): AsyncGenerator<SingleRequestLogEntryResponse> {
    const now = this.clock.now();
    const period = { start: recent.unsettledSince(now), end: soonAfter(now) };
    for await (const batch of this.batches(client, period)) {
      for (const entry of batch) if (recent.add(entry)) yield toDetailedResponse(entry);
      recent.forgetSettled(now);
    }
  }

  private async *batches(
    client: AttributedClient,
    period: Required<Period>,
  ): AsyncGenerator<RequestLogEntry[]> {
    let after: RequestLogPosition | undefined;
    do {
      const page = { after, most: ENTRIES_PER_BATCH };
      const batch = await inTime(this.store.oldest({ client, period, filter: {} }, page));
      yield batch;
      after = batch.length < ENTRIES_PER_BATCH ? undefined : batch.at(-1);
    } while (after);
  }

  private newestBefore(client: AttributedClient, end: Date, most: number): Promise<RequestLogEntry[]> {
    const period = { start: BEGINNING, end };
    return inTime(this.store.newest({ client, period, filter: {} }, { before: undefined, most }));
  }
}

function soonAfter(now: Date): Date {
  return new Date(now.getTime() + AHEAD);
}

/** Callers of the API are told to narrow their filters; operators have other means. */
async function inTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    const isLate = error instanceof ApiError && error.code === REQUEST_LOG_QUERY_TIMEOUT.code;
    throw isLate
      ? new OperatorError(
          'The database took too long to read the request log. Try again, or allow it more time with ' +
            'REQUEST_LOG_QUERY_TIMEOUT_MS.',
          { cause: error },
        )
      : error;
  }
}
