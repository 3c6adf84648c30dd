import { Module } from '@nestjs/common';
import { AuditLogsModule } from '../audit-logs/index.js';
import { AuditStreamPagesController } from './audit-stream-pages.controller.js';
import { AuditStreamsJob } from './audit-streams.job.js';
import { AuditStreamsRepository } from './audit-streams.repository.js';
import { AuditStreamsService } from './audit-streams.service.js';

@Module({
  imports: [AuditLogsModule],
  controllers: [AuditStreamPagesController],
  providers: [AuditStreamsService, AuditStreamsRepository, AuditStreamsJob],
})
export class AuditStreamsModule {}
