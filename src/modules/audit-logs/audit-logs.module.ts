import { Module } from '@nestjs/common';
import { AuditLog, OperatorAudit } from './audit-log.js';
import { AuditLogRepository } from './audit-log.repository.js';
import { AuditLogsController } from './audit-logs.controller.js';
import { AuditLogsService } from './audit-logs.service.js';
import { AuditLogPage } from './audit-log.pages.js';
import { AuditVerification } from './audit-verification.js';
import './audit-logs.capability.js';

/** Operation 4: who did what in the dashboard, in hash chains. */
@Module({
  controllers: [AuditLogsController, AuditLogPage],
  providers: [AuditLog, AuditLogRepository, AuditLogsService, AuditVerification, OperatorAudit],
  exports: [AuditLog, AuditLogsService, AuditVerification, OperatorAudit],
})
export class AuditLogsModule {}
