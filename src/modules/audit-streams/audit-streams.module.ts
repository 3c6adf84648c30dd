import { Module } from '@nestjs/common';
import { AuditLogsModule } from '../audit-logs/index.js';
import { AuditStreamPage } from './audit-stream.pages.js';
import { AuditStreamsJob } from './audit-streams.job.js';
import { AuditStreamsRepository } from './audit-streams.repository.js';
import { AuditStreamsService } from './audit-streams.service.js';

@Module({
  imports: [AuditLogsModule],
  controllers: [AuditStreamPage],
  providers: [AuditStreamsService, AuditStreamsRepository, AuditStreamsJob],
})
export class AuditStreamsModule {}
