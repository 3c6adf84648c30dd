import { Controller, Get, Query } from '@nestjs/common';
import {
  CurrentClient,
  EnvironmentGuard,
  type AuthenticatedClient,
} from '../../infrastructure/auth/index.js';
import { ENVIRONMENT_MISMATCH } from '../../infrastructure/errors/index.js';
import { Topic } from '../../infrastructure/openapi/index.js';
import { PlatformOperation } from '../../infrastructure/surfaces/index.js';
import {
  AuditLogListResponse,
  LIST_AUDIT_LOGS,
  ListAuditLogsQuery,
  PRODUCTION_ONLY,
} from './audit-logs.dto.js';
import { AuditLogsService } from './audit-logs.service.js';

@Topic('Audit log', 'Actions of users in the dashboard.')
@Controller()
export class AuditLogsController {
  constructor(private readonly auditLogs: AuditLogsService) {}

  @Get('audit_logs')
  @PlatformOperation(LIST_AUDIT_LOGS, 'audit_logs:read', {
    guards: [EnvironmentGuard('production', ENVIRONMENT_MISMATCH, PRODUCTION_ONLY)],
  })
  list(
    @CurrentClient() client: AuthenticatedClient,
    @Query() query: ListAuditLogsQuery,
  ): Promise<AuditLogListResponse> {
    return this.auditLogs.page(client.organizationId, query);
  }
}
