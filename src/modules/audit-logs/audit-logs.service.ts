import { Injectable } from '@nestjs/common';
import { CursorCodec, type CursorScope } from '../../infrastructure/paging/index.js';
import { periodOf, type Period } from '../../infrastructure/time/index.js';
import type { AuditLogEntry } from './audit-log-entry.entity.js';
import { AuditLogRepository, type Position } from './audit-log.repository.js';
import type { AuditLogEntryResponse, AuditLogListResponse, ListAuditLogsQuery } from './audit-logs.dto.js';

const PAGE = 100;

/** Reads an organization's audit log (specification, operation 4). */
@Injectable()
export class AuditLogsService {
  constructor(
    private readonly repository: AuditLogRepository,
    private readonly cursors: CursorCodec,
  ) {}

  /** A page, newest first. Entries that are added meanwhile come before the first page and shift none. */
  async page(organizationId: string, query: ListAuditLogsQuery): Promise<AuditLogListResponse> {
    const period = periodOf(query);
    const scope = scopeOf(organizationId, period);
    const cursor = query.cursor ?? query.next_cursor;
    const before = cursor === undefined ? undefined : this.positionOf(cursor, scope);
    // One more tells whether there is a next page.
    const found = await this.repository.newest(organizationId, period, before, PAGE + 1);
    const entries = found.slice(0, PAGE);
    const last = found.length > PAGE ? entries.at(-1) : undefined;
    return { data: entries.map(toResponse), next_cursor: this.cursorOf(last, scope), limit: PAGE };
  }

  /** All entries of a period, oldest first, a batch at a time: an export of any size needs little memory. */
  async *all(
    organizationId: string,
    bounds: { start?: string; end?: string },
  ): AsyncGenerator<AuditLogEntryResponse> {
    for await (const entry of this.repository.inOrderOfTime(organizationId, periodOf(bounds)))
      yield toResponse(entry);
  }

  private cursorOf(last: Position | undefined, scope: CursorScope): string | null {
    return last ? this.cursors.encode([last.createdAt.getTime(), last.sequence], scope) : null;
  }

  private positionOf(cursor: string, scope: CursorScope): Position {
    const [time, sequence] = this.cursors.decode(cursor, scope);
    return { createdAt: new Date(Number(time)), sequence: String(sequence) };
  }
}

function scopeOf(organizationId: string, { start, end }: Period): CursorScope {
  return ['audit_logs', organizationId, start?.getTime() ?? null, end?.getTime() ?? null];
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
