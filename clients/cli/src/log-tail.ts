import type { MerchantConnectivity, RequestLogEntryResponse } from '@merchant-connectivity/sdk';

export type LogEntry = RequestLogEntryResponse;
export type LogFilters = Parameters<MerchantConnectivity['listRequestLogs']>[0];

const ENTRIES_PER_PAGE = 50;
/** Requests per second at most: the service allows 10 per user, and other programs of the user need some. */
const PAGES_PER_SECOND = 8;
/** Pages that one look reads to show entries at once. If there are more, entries are shown when they are settled. */
const PAGES_AT_ONCE = 6;
/** The same for a look after one that has read settled entries only. */
const PAGES_AT_ONCE_AGAIN = 2;
/** Milliseconds after its time until an entry is expected in the log at the latest. The service assumes the same. */
const MAX_LATENESS = 10_000;
/** Milliseconds between two looks. */
const [INTERVAL, INTERVAL_SETTLED] = [1_000, 3_000];
/** If there are few entries, the looks read again more than the last seconds, in case an entry is even later. */
const MAX_OVERLAP = 60_000;
const ENTRIES_TO_READ_AGAIN = 3 * ENTRIES_PER_PAGE;
/** Milliseconds of the log that one look reads when it is behind. */
const [MIN_SLICE, FIRST_SLICE, MAX_SLICE] = [1_000, 5_000, 60_000];
const PAGES_PER_SLICE = 20;
/** Milliseconds, a little less than the 7 days that one request may cover. */
const MAX_PERIOD = 6.9 * 86_400_000;

/**
 * Follows the request log. The log is listed newest first, in small pages, and entries are added in almost, but not exactly,
 * the order of their times.
 *
 * As long as there are few entries, each look reads again the time in which entries may have been added late, and skips the
 * entries that it has returned before. If there are many, that would take more requests than the service allows, and each
 * look would take longer than the one before. Then a look reads only entries that are settled, so that every entry is read
 * once. After an interruption, the next looks continue where the last one ended, slice by slice.
 */
export class LogTail {
  /** The entries since `start` that have been returned, by their ids: their times. */
  private readonly seen = new Map<number, number>();
  /** The time since which entries may be missing; undefined if all are. */
  private start: number | undefined;
  private slice = FIRST_SLICE;
  private state: 'current' | 'settled' | 'behind' = 'current';
  /** Milliseconds by which the clock of the service is ahead of the one here, at least: no entry has a time in the future. */
  private ahead = -Infinity;
  private pages = 0;
  private began = 0;

  constructor(
    private readonly client: Pick<MerchantConnectivity, 'listRequestLogs'>,
    private readonly filters: LogFilters,
    /** Milliseconds. */
    private readonly now: () => number = Date.now,
  ) {}

  /** Returns the last entries, and begins after them. */
  async begin(count: number): Promise<LogEntry[]> {
    this.restart();
    const { entries: newest } = await this.read({}, Math.max(1, Math.ceil(count / ENTRIES_PER_PAGE)));
    const last = timeOf(newest[0]);
    if (last === undefined) return [];
    const { entries: recent, isComplete } = await this.read({ start: last - MAX_LATENESS }, PAGES_AT_ONCE);
    this.moveTo(isComplete ? last - MAX_LATENESS : (timeOf(recent.at(-1)) ?? last) + 1, recent);
    const older = newest.filter(({ id }) => !recent.some((entry) => entry.id === id));
    return [...recent, ...older].slice(0, count).toReversed();
  }

  /** Returns entries that were added since the last look, oldest first. */
  async look(): Promise<LogEntry[]> {
    this.restart();
    const start = this.start && Math.max(this.start, this.now() - MAX_PERIOD);
    const atOnce = this.state === 'current' ? PAGES_AT_ONCE : PAGES_AT_ONCE_AGAIN;
    const { entries, isComplete } = await this.read({ start }, atOnce);
    const last = timeOf(entries[0]);
    if (last !== undefined) this.ahead = Math.max(this.ahead, last - this.now());
    if (!isComplete) return this.lookAtSettled(start);
    const added = this.unseen(entries);
    this.state = 'current';
    this.slice = FIRST_SLICE;
    if (last !== undefined) this.moveTo(Math.max(start ?? 0, last - overlapOf(entries, last)), entries);
    return added;
  }

  /** Milliseconds to wait after a look, so that the requests stay within the limit of the service. */
  get interval(): number {
    const needed = (this.pages * 1_000) / PAGES_PER_SECOND;
    const wanted = { current: INTERVAL, settled: INTERVAL_SETTLED, behind: 0 }[this.state];
    return Math.max(0, Math.max(needed, wanted) - (this.now() - this.began));
  }

  private async lookAtSettled(start: number | undefined): Promise<LogEntry[]> {
    const settled = this.now() + this.ahead - MAX_LATENESS;
    const end = Math.min(settled, (start ?? settled) + this.slice);
    this.state = end < settled ? 'behind' : 'settled';
    if (start !== undefined && end < start) return [];
    const { entries } = await this.read({ start, end });
    const added = this.unseen(entries);
    this.moveTo(end, entries);
    const pages = 1 + entries.length / ENTRIES_PER_PAGE;
    const fitting = (end - (start ?? end)) * Math.min(2, PAGES_PER_SLICE / pages);
    this.slice = Math.min(MAX_SLICE, Math.max(MIN_SLICE, Math.ceil(fitting)));
    return added;
  }

  /** Reads the entries of a period, newest first, unless they need more pages. */
  private async read(
    { start, end }: { readonly start?: number | undefined; readonly end?: number },
    maxPages = Infinity,
  ): Promise<{ readonly entries: LogEntry[]; readonly isComplete: boolean }> {
    const period = {
      ...(start !== undefined && { start: new Date(start).toISOString() }),
      ...(end !== undefined && { end: new Date(end).toISOString() }),
    };
    const entries: LogEntry[] = [];
    let cursor: string | null = null;
    for (let pages = 0; pages < maxPages; pages += 1) {
      const page = await this.page({ ...period, ...(cursor !== null && { cursor }) });
      entries.push(...page.data);
      cursor = page.next_cursor;
      if (cursor === null) return { entries, isComplete: true };
    }
    return { entries, isComplete: false };
  }

  private page(query: Partial<LogFilters>): ReturnType<MerchantConnectivity['listRequestLogs']> {
    this.pages += 1;
    return this.client.listRequestLogs({ ...this.filters, ...query, limit: ENTRIES_PER_PAGE });
  }

  private restart(): void {
    this.began = this.now();
    this.pages = 0;
  }

  private unseen(entries: readonly LogEntry[]): LogEntry[] {
    return entries.filter(({ id }) => !this.seen.has(id)).toReversed();
  }

  private moveTo(start: number, read: readonly LogEntry[]): void {
    this.start = start;
    for (const entry of read) this.seen.set(entry.id, Date.parse(entry.datetime));
    for (const [id, time] of this.seen) if (time < start) this.seen.delete(id);
  }
}

/** Returns the milliseconds before the last entry that the next look reads again: as many as fit a few pages. */
function overlapOf(entries: readonly LogEntry[], last: number): number {
  const time = timeOf(entries[ENTRIES_TO_READ_AGAIN - 1]);
  return time === undefined ? MAX_OVERLAP : Math.min(MAX_OVERLAP, Math.max(MAX_LATENESS, last - time));
}

function timeOf(entry: LogEntry | undefined): number | undefined {
  return entry && Date.parse(entry.datetime);
}
