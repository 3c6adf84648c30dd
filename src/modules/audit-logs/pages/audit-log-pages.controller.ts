import { Controller, Get, Param, Query, type StreamableFile } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import { DashboardExport, DashboardPage, type PageResponse } from '../../../infrastructure/pages/index.js';
import { auditAction } from '../audit-actions.js';
import { AuditLogPagesService, type PageQuery } from './audit-log-pages.service.js';

/**
 * The operation that lists the audit log belongs to the platform API and requires production credentials, so it has no
 * permission for users. The pages require that of `listUsers` (role admin): the log shows what users did.
 */
const PERMISSION = 'listUsers';
const AuditLogPage = (): MethodDecorator => DashboardPage(PERMISSION);

@Controller('dashboard/audit-log')
export class AuditLogPagesController {
  constructor(private readonly pages: AuditLogPagesService) {}

  @Get()
  @AuditLogPage()
  list(@CurrentActor() actor: DashboardActor, @Query() query: PageQuery): Promise<PageResponse> {
    return this.pages.list(actor, query);
  }

  @Get('export/:format')
  @DashboardExport(PERMISSION, auditAction('audit_log.export'))
  export(
    @CurrentActor() actor: DashboardActor,
    @Param('format') format: string,
    @Query() query: PageQuery,
  ): Promise<StreamableFile> {
    return this.pages.export(actor, { ...query, format });
  }

  @Get('verify')
  @AuditLogPage()
  verify(@CurrentActor() actor: DashboardActor, @Query('up_to') upTo: unknown): Promise<PageResponse> {
    return this.pages.verify(actor, upTo);
  }

  @Get('entries/:id')
  @AuditLogPage()
  get(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.pages.get(actor, id);
  }
}
