import { Controller, Get, Param, Query, type StreamableFile } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../infrastructure/auth/index.js';
import {
  DashboardExport,
  DashboardPage,
  exportFile,
  ExportFormatField,
  queryFrom,
  submitted,
  type ExportFormat,
  type PageResponse,
} from '../../infrastructure/pages/index.js';
import { AUDIT_LOG_COLUMNS } from './audit-chain.js';
import { entryPage, listPage, verificationPage } from './audit-log.pages.js';
import { SearchAuditLogsQuery } from './audit-logs.dto.js';
import { AuditLogsService } from './audit-logs.service.js';
import { AuditVerification } from './audit-verification.js';

type PageQuery = Readonly<Record<string, unknown>>;

class ExportAuditLogsQuery extends SearchAuditLogsQuery {
  @ExportFormatField()
  format!: ExportFormat;
}

const ENTRIES_PER_PAGE = 50;
/** Verifying 10,000 entries takes about as long as a page may take. */
const VERIFIED_ENTRIES = 10_000;

@Controller('dashboard/audit-log')
export class AuditLogPagesController {
  constructor(
    private readonly auditLogs: AuditLogsService,
    private readonly verification: AuditVerification,
  ) {}

  @Get()
  @DashboardPage('listAuditEntries', SearchAuditLogsQuery)
  list(@CurrentActor() { organizationId }: DashboardActor, @Query() query: PageQuery): Promise<PageResponse> {
    return submitted(
      async () => {
        const search = queryFrom(SearchAuditLogsQuery, query);
        return listPage(await this.auditLogs.search(organizationId, search, ENTRIES_PER_PAGE));
      },
      () => listPage(),
    );
  }

  @Get('export/:format')
  @DashboardExport('exportAuditLog')
  export(
    @CurrentActor() { organizationId, organizationName }: DashboardActor,
    @Param('format') wanted: string,
    @Query() query: PageQuery,
  ): Promise<StreamableFile> {
    const { format, ...filters } = queryFrom(ExportAuditLogsQuery, query, { format: wanted });
    const rows = this.auditLogs.allMatching(organizationId, filters);
    const { start, end } = filters;
    const file = { format, name: 'audit-log', organizationName, start, end };
    return exportFile({ ...file, columns: AUDIT_LOG_COLUMNS, rows });
  }

  /** @param upTo the sequence of the last entry to verify; anything else means the newest entries */
  @Get('verify')
  @DashboardPage('listAuditEntries')
  async verify(
    @CurrentActor() { organizationId }: DashboardActor,
    @Query('up_to') upTo: unknown,
  ): Promise<PageResponse> {
    const sequence = /^[1-9]\d{0,14}$/.test(String(upTo)) ? Number(upTo) : undefined;
    return verificationPage(await this.verification.verifyPart(organizationId, VERIFIED_ENTRIES, sequence));
  }

  @Get('entries/:id')
  @DashboardPage('listAuditEntries')
  async get(
    @CurrentActor() { organizationId }: DashboardActor,
    @Param('id') id: string,
  ): Promise<PageResponse> {
    return entryPage(await this.auditLogs.get(organizationId, id));
  }
}
