import type { MerchantConnectivity, RequestLogEntryResponse } from '@merchant-connectivity/sdk';

export type LogEntry = RequestLogEntryResponse;
export type LogFilters = Parameters<MerchantConnectivity['listRequestLogs']>[0];

const ENTRIES_PER_PAGE = 50;
/** Requests per second at most: the service allows 10 per user, and other programs of the user need some. */
const PAGES_PER_SECOND = 6;
const MIN_INTERVAL = 1_000;
/** Milliseconds that are read again each time, because entries can be added late: as many as fit a few pages. */
const [MIN_OVERLAP, MAX_OVERLAP] = [3_000, 60_000];
const ENTRIES_TO_READ_AGAIN = 3 * ENTRIES_PER_PAGE;
/** Milliseconds of the log that one look reads after a long interruption. */
const SLICE = 60_000;
/** Milliseconds, a little less than the 7 days that one request may cover. */
const MAX_PERIOD = 6.9 * 86_400_000;

/**
 * Follows the request log. The log is listed newest first, and entries are added in almost, but not exactly, the order of their
 * times. So each look reads again what is newer than some time before the newest entry, and skips the entries that it has
 * returned before. After an interruption, the next look continues where the last one ended.
 */
export class LogTail {
  /** The entries of the overlap, by their ids: their times. */
  private seen = new Map<number, number>();
  private start: number | undefined;
  private pages = 0;

  constructor(
    private readonly client: Pick<MerchantConnectivity, 'listRequestLogs'>,
    private readonly filters: LogFilters,
  ) {}

  /** Returns the last entries, and begins after them. */
  async begin(count: number): Promise<LogEntry[]> {
    const newest = await this.client.listRequestLogs({ ...this.filters, limit: ENTRIES_PER_PAGE });
    this.start = Date.parse(newest.data[0]?.datetime ?? '') - MIN_OVERLAP || undefined;
    const found = this.start === undefined ? [] : await this.look();
    const older = newest.data.filter(({ id }) => !found.some((entry) => entry.id === id)).toReversed();
    return count === 0 ? [] : [...older, ...found].slice(-count);
  }

  /** Returns the entries that were added since the last look, oldest first; if there are very many, some of them. */
  async look(): Promise<LogEntry[]> {
    const since = Math.max(this.start ?? 0, Date.now() - MAX_PERIOD);
    const query = {
      ...this.filters,
      limit: ENTRIES_PER_PAGE,
      ...(this.start !== undefined && { start: new Date(since).toISOString() }),
    };
    const newest = await this.client.listRequestLogs(query);
    this.pages = 1;
    const isBehind =
      this.start !== undefined && Date.now() - since > 2 * SLICE && newest.next_cursor !== null;
    const end = isBehind ? since + SLICE : undefined;
    const found = isBehind
      ? await this.all({ ...query, end: new Date(since + SLICE).toISOString() })
      : [...newest.data, ...(await this.all(query, newest.next_cursor))];
    const added = found.filter(({ id }) => !this.seen.has(id)).toReversed();
    this.moveOn(found, end);
    return added;
  }

  /** @param cursor of the first page; null for none */
  private async all(query: LogFilters, cursor?: string | null): Promise<LogEntry[]> {
    const found: LogEntry[] = [];
    let next = cursor;
    while (next !== null) {
      const page = await this.client.listRequestLogs({
        ...query,
        ...(next !== undefined && { cursor: next }),
      });
      this.pages += 1;
      found.push(...page.data);
      next = page.next_cursor;
    }
    return found;
  }

  /** Milliseconds to wait after a look, so that the requests stay within the limit of the service. */
  get interval(): number {
    return Math.max(MIN_INTERVAL, (this.pages * 1_000) / PAGES_PER_SECOND);
  }

  /**
   * @param read all entries since `start`, newest first
   * @param end of the period, if it is not now
   */
  private moveOn(read: readonly LogEntry[], end?: number): void {
    const last = end ?? timeOf(read[0]);
    if (last === undefined) return;
    const fitting = timeOf(read[ENTRIES_TO_READ_AGAIN - 1]);
    const wanted = fitting === undefined ? MAX_OVERLAP : last - fitting;
    // Nothing is added any more to a part of the log that is long past.
    const overlap = end === undefined ? Math.min(MAX_OVERLAP, Math.max(MIN_OVERLAP, wanted)) : MIN_OVERLAP;
    const start = last - overlap;
    // What is older than the last look has not been returned, and must not be returned now.
    this.start = Math.max(start, this.start ?? start);
    for (const entry of read) this.seen.set(entry.id, Date.parse(entry.datetime));
    for (const [id, time] of this.seen) if (time < this.start) this.seen.delete(id);
  }
}

function timeOf(entry: LogEntry | undefined): number | undefined {
  return entry && Date.parse(entry.datetime);
}
