import { Module } from '@nestjs/common';
import { AuditLogsModule } from '../audit-logs/index.js';
import { DashboardUsersModule } from '../dashboard-users/index.js';
import { AuditStreamEmailsJob } from './audit-stream-emails.job.js';
import { AUDIT_STREAM_PAGES } from './audit-stream.pages.js';
import { AuditStreamsJob } from './audit-streams.job.js';
import { AuditStreamsRepository } from './audit-streams.repository.js';
import { AuditStreamsService } from './audit-streams.service.js';
import './audit-streams.capability.js';

/** The audit log of an organization, sent to a system of its own. */
@Module({
  imports: [AuditLogsModule, DashboardUsersModule],
  controllers: AUDIT_STREAM_PAGES,
  providers: [AuditStreamsService, AuditStreamsRepository, AuditStreamsJob, AuditStreamEmailsJob],
})
export class AuditStreamsModule {}
