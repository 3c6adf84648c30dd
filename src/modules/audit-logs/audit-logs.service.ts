import { Injectable } from '@nestjs/common';
import { CursorCodec, type CursorScope } from '../../infrastructure/paging/index.js';
import { periodOf, type Period } from '../../infrastructure/time/index.js';
import type { AuditLogEntry } from './audit-log-entry.entity.js';
import { AuditLogRepository, type Position } from './audit-log.repository.js';
import {
  PAGE_SIZE,
  type AuditLogEntryResponse,
  type AuditLogListResponse,
  type ListAuditLogsQuery,
} from './audit-logs.dto.js';

/** The columns of an exported entry: the fields of the API, as paths. */
export const AUDIT_LOG_COLUMNS = [
  'id',
  'datetime',
  'event.action',
  'event.outcome.status',
  'actor.name',
  'actor.email',
  'target.type',
  'target.name',
  'target.environment',
  'context.ip',
  'context.user_agent',
];

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
    // One more entry shows whether there is a next page.
    const found = await this.repository.newest(organizationId, period, before, PAGE_SIZE + 1);
    const entries = found.slice(0, PAGE_SIZE);
    const last = found.length > PAGE_SIZE ? entries.at(-1) : undefined;
    return { data: entries.map(toResponse), next_cursor: this.encodeCursor(last, scope), limit: PAGE_SIZE };
  }

  /** Returns all entries of a period, oldest first. They are read in batches, so an export of any size needs little memory. */
  async *all(
    organizationId: string,
    bounds: { start?: string; end?: string },
  ): AsyncGenerator<AuditLogEntryResponse> {
    for await (const entry of this.repository.inOrderOfTime(organizationId, periodOf(bounds)))
      yield toResponse(entry);
  }

  private encodeCursor(last: Position | undefined, scope: CursorScope): string | null {
    return last ? this.cursors.encode([last.createdAt.getTime(), last.sequence], scope) : null;
  }

  private decodeCursor(cursor: string, scope: CursorScope): Position {
    const [time, sequence] = this.cursors.decode(cursor, scope);
    return { createdAt: new Date(Number(time)), sequence: String(sequence) };
  }
}

function scopeOf(organizationId: string, { start, end }: Period): CursorScope {
  return ['audit_logs', organizationId, start?.getTime(), end?.getTime()];
}

function toResponse(entry: AuditLogEntry): AuditLogEntryResponse {
  return {
    id: entry.id,
    datetime: entry.createdAt,
    event: { action: entry.action, outcome: { status: entry.outcome } },
    actor: { name: entry.actorName, email: entry.actorEmail },
    target: { type: entry.targetType, name: entry.targetName, environment: entry.targetEnvironment },
    context: { ip: entry.contextIp, user_agent: entry.contextUserAgent },
  };
}
