import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditLogsModule } from '../audit-logs/index.js';
import { AuditStream } from './audit-stream.entity.js';
import { AuditStreamPage } from './audit-stream.pages.js';
import { AuditStreamsJob } from './audit-streams.job.js';
import { AuditStreamsRepository } from './audit-streams.repository.js';
import { AuditStreamsService } from './audit-streams.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([AuditStream]), AuditLogsModule],
  controllers: [AuditStreamPage],
  providers: [AuditStreamsService, AuditStreamsRepository, AuditStreamsJob],
})
export class AuditStreamsModule {}
