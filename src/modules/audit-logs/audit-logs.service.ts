import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { NOT_FOUND } from '../../infrastructure/errors/index.js';
import { CursorCodec, type CursorScope } from '../../infrastructure/crypto/index.js';
import { cutToPage } from '../../infrastructure/paging/index.js';
import type { HistogramPoint } from '../../infrastructure/pages/index.js';
import { DAY, MINUTE, periodOf, type Period } from '../../infrastructure/time/index.js';
import type { AuditLogEntry, AuditLogEntryResponse } from './audit-log-entry.entity.js';
import { isOwnAccount } from './audit-sentences.js';
import { AuditLogRepository, type Position } from './audit-log.repository.js';
import {
  type AuditLogListResponse,
  type ListAuditLogsQuery,
  type SearchAuditLogsQuery,
} from './audit-logs.dto.js';

/** Number of entries that a page of a search looks at. */
const MAX_SEARCHED = 10_000n;

/** Bars of a histogram, and its length in milliseconds if the filters have no start. */
const HISTOGRAM_BARS = 60;
const HISTOGRAM_LENGTH = 30 * DAY;

export interface AuditLogSearchResult {
  readonly entries: readonly AuditLogEntryResponse[];
  readonly nextCursor: string | null;
  /** The time down to which entries were searched, if older entries were not searched yet; null otherwise. */
  readonly searchedSince: Date | null;
}

/** Reads an organization's audit log (specification, operation 4). */
@Injectable()
export class AuditLogsService {
  constructor(
    private readonly repository: AuditLogRepository,
    private readonly cursors: CursorCodec,
  ) {}

  /** Returns a page, newest first. Entries that are added meanwhile do not shift later pages. */
  async page(organizationId: string, query: ListAuditLogsQuery): Promise<AuditLogListResponse> {
    const period = periodOf(query);
    const scope = scopeOf(organizationId, period);
    const cursor = query.cursor ?? query.next_cursor;
    const before = cursor === undefined ? undefined : this.decodeCursor(cursor, scope);
    const found = await this.repository.newest(organizationId, period, before, query.limit + 1);
    const { entries, last } = cutToPage(found, query.limit);
    return { data: entries.map(toResponse), next_cursor: this.encodeCursor(last, scope), limit: query.limit };
  }

  /** Returns all entries of a period, oldest first. They are read in batches, so an export of any size needs little memory. */
  async *all(
    organizationId: string,
    bounds: { start?: string; end?: string },
  ): AsyncGenerator<AuditLogEntryResponse> {
    for await (const entry of this.repository.inOrderOfTime(organizationId, periodOf(bounds)))
      yield toResponse(entry);
  }

  /**
   * Returns a page of the entries that match a filter, newest first. Each page searches a limited number of entries, so it can
   * have few entries, or none, although older ones match: then its cursor leads on.
   */
  async search(
    organizationId: string,
    query: SearchAuditLogsQuery,
    size: number,
  ): Promise<AuditLogSearchResult> {
    const period = periodOf(query);
    const { actor, target, action, outcome } = query;
    const scope = [...scopeOf(organizationId, period), 'search', actor, action, outcome];
    // Release 0.4.0 does not know it.
    if (target !== undefined) scope.push(target);
    const before = query.cursor === undefined ? undefined : this.decodeCursor(query.cursor, scope);
    const [first] = await this.repository.newest(organizationId, period, before, 1);
    if (!first) return { entries: [], nextCursor: null, searchedSince: null };
    const below = BigInt(first.sequence) + 1n;
    const from = below > MAX_SEARCHED ? below - MAX_SEARCHED : 1n;
    const range = { from: String(from), below: String(below) };
    const found = await this.repository.matching(organizationId, query, range, size + 1);
    const { start } = period;
    const entries = found.filter(({ datetime }) => start === undefined || datetime >= start);
    const oldest = await this.repository.find(organizationId, { sequence: range.from });
    const isComplete = from === 1n || !oldest || (start !== undefined && oldest.datetime < start);
    const last = entries.length > size ? entries[size - 1] : isComplete ? undefined : oldest;
    return {
      entries: entries.slice(0, size).map(toResponse),
      nextCursor: this.encodeCursor(last, scope),
      searchedSince: last === oldest && oldest ? oldest.datetime : null,
    };
  }

  /**
   * Counts the newest entries of a period, by default of 30 days, by time. Filters other than the period do not matter: the bars lead
   * to the filtered entries.
   */
  async histogram(
    organizationId: string,
    query: SearchAuditLogsQuery,
    now: Date,
  ): Promise<readonly HistogramPoint[]> {
    const { end = now, start = new Date(end.getTime() - HISTOGRAM_LENGTH) } = periodOf(query);
    const step = Math.max(Math.ceil((end.getTime() - start.getTime()) / HISTOGRAM_BARS / MINUTE), 1) * MINUTE;
    const counts = await this.repository.counts(organizationId, { start, end }, step);
    const points = Math.min(Math.ceil((end.getTime() - start.getTime()) / step), HISTOGRAM_BARS);
    return Array.from({ length: points }, (_, index) => {
      const from = start.getTime() + index * step;
      const { succeeded = 0, failed = 0 } = counts.get(index) ?? {};
      return { start: new Date(from), end: new Date(from + step), succeeded, failed };
    });
  }

  /**
   * Returns all entries that match a filter, oldest first. They are read in batches, so an export of any size needs little
   * memory.
   */
  async *allMatching(
    organizationId: string,
    query: SearchAuditLogsQuery,
  ): AsyncGenerator<AuditLogEntryResponse> {
    for await (const entry of this.all(organizationId, query)) if (matches(entry, query)) yield entry;
  }

  /** Returns the next entries of the chain after a sequence. */
  async following(organizationId: string, sequence: string, limit: number): Promise<AuditLogEntry[]> {
    return this.repository.following(organizationId, sequence, limit);
  }

  /** @throws ApiError NOT_FOUND if the organization has no entry with this ID */
  async get(organizationId: string, id: string): Promise<AuditLogEntryResponse> {
    const entry = NOT_FOUND.requireFound(isUUID(id) && (await this.repository.find(organizationId, { id })));
    return toResponse(entry);
  }

  private encodeCursor(last: Position | undefined, scope: CursorScope): string | null {
    return last ? this.cursors.encode([last.datetime.getTime(), last.sequence], scope) : null;
  }

  private decodeCursor(cursor: string, scope: CursorScope): Position {
    const [time, sequence] = this.cursors.decode(cursor, scope);
    return { datetime: new Date(Number(time)), sequence: String(sequence) };
  }
}

function matches(
  entry: AuditLogEntryResponse,
  { actor = '', target, action, outcome }: SearchAuditLogsQuery,
): boolean {
  const { event } = entry;
  const { name, email } = entry.actor;
  const isBy = [name, email].some((text) => text.toLowerCase().includes(actor.toLowerCase()));
  const isAbout =
    target === undefined ||
    (!isOwnAccount(entry) && entry.target.name?.toLowerCase().includes(target.toLowerCase()) === true);
  return (
    isBy &&
    isAbout &&
    (action === undefined || event.action === action) &&
    (outcome === undefined || event.outcome.status === outcome)
  );
}

function scopeOf(organizationId: string, { start, end }: Period): CursorScope {
  return ['audit_logs', organizationId, start?.getTime(), end?.getTime()];
}

/** Leaves out the place in the chain. */
function toResponse({
  id,
  datetime,
  event,
  actor,
  target,
  context,
  changes,
}: AuditLogEntry): AuditLogEntryResponse {
  return { id, datetime, event, actor, target, context, changes };
}
