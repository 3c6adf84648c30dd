import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DenialRecorder } from '../../infrastructure/auth/index.js';
import { AuditChainHead } from './audit-chain-head.entity.js';
import { AuditLogEntry } from './audit-log-entry.entity.js';
import { AuditLog } from './audit-log.js';
import { AuditLogRepository } from './audit-log.repository.js';
import { AuditLogsController } from './audit-logs.controller.js';
import { AuditLogsService } from './audit-logs.service.js';
import { AuditVerification } from './audit-verification.js';

/** Global, because the guards inject `DenialRecorder`. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([AuditLogEntry, AuditChainHead])],
  providers: [
    AuditLog,
    AuditLogRepository,
    AuditLogsService,
    AuditVerification,
    { provide: DenialRecorder, useExisting: AuditLog },
  ],
  exports: [AuditLog, AuditLogsService, AuditVerification, DenialRecorder],
})
export class AuditLogsModule {}

/** Operation 4: only where the platform API is served. */
@Module({ imports: [AuditLogsModule], controllers: [AuditLogsController] })
export class AuditLogOperationsModule {}
