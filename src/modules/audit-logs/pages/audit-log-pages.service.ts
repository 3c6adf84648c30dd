import { Injectable, type StreamableFile } from '@nestjs/common';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import { EXPORT_FORMAT, exportFile, type ExportFormat } from '../../../infrastructure/exports/index.js';
import {
  queryFrom,
  submitted,
  timestampFrom,
  type PageResponse,
} from '../../../infrastructure/pages/index.js';
import { EnumField } from '../../../infrastructure/validation/index.js';
import { SearchAuditLogsQuery } from '../audit-logs.dto.js';
import { AUDIT_LOG_COLUMNS, AuditLogsService } from '../audit-logs.service.js';
import { AuditVerification } from '../audit-verification.js';
import { entryPage, listPage, verificationPage } from './audit-log.pages.js';

/** The query of a page, as it was sent. */
export type PageQuery = Readonly<Record<string, unknown>>;

class ExportAuditLogsQuery extends SearchAuditLogsQuery {
  @EnumField(EXPORT_FORMAT, { in: 'query', description: 'The format of the file.', example: 'csv' })
  format!: ExportFormat;
}

const ENTRIES_PER_PAGE = 50;
/** Verifying 10,000 entries takes about as long as a page may take. */
const VERIFIED_ENTRIES = 10_000;

/** The pages about the audit log. */
@Injectable()
export class AuditLogPagesService {
  constructor(
    private readonly auditLogs: AuditLogsService,
    private readonly verification: AuditVerification,
  ) {}

  list({ organizationId }: DashboardActor, query: PageQuery): Promise<PageResponse> {
    return submitted(
      async () => {
        const search = queryFrom(SearchAuditLogsQuery, withTimestamps(query));
        return listPage(await this.auditLogs.search(organizationId, search, ENTRIES_PER_PAGE));
      },
      (problem) => listPage(undefined, problem),
    );
  }

  async export({ organizationId }: DashboardActor, query: PageQuery): Promise<StreamableFile> {
    const { format, ...filters } = queryFrom(ExportAuditLogsQuery, withTimestamps(query));
    return exportFile({
      format,
      name: 'audit-log',
      columns: AUDIT_LOG_COLUMNS,
      rows: this.auditLogs.allMatching(organizationId, filters),
    });
  }

  /** @param upTo the sequence of the last entry to verify; anything else means the newest entries */
  async verify({ organizationId }: DashboardActor, upTo: unknown): Promise<PageResponse> {
    const sequence = /^[1-9]\d{0,14}$/.test(String(upTo)) ? Number(upTo) : undefined;
    const part = await this.verification.verifyPart(organizationId, VERIFIED_ENTRIES, sequence);
    return verificationPage(part);
  }

  async get({ organizationId }: DashboardActor, id: string): Promise<PageResponse> {
    return entryPage(await this.auditLogs.get(organizationId, id));
  }
}

function withTimestamps({ start, end, ...query }: PageQuery): PageQuery {
  return { ...query, start: timestampFrom(start), end: timestampFrom(end) };
}
