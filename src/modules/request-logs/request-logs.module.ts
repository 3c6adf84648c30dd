import { Module } from '@nestjs/common';
import { RequestLogsPagesController } from './pages/request-logs-pages.controller.js';
import { LogReads, OrganizationQueryQueue } from './storage/log-reads.js';
import { RequestLogRepository } from './storage/request-log.repository.js';
import { OperatorRequestLog } from './reading/operator-request-log.js';
import { RequestLogOverviewRepository } from './rollups/request-log-overview.repository.js';
import { RequestLogOverviewService } from './rollups/request-log-overview.service.js';
import { RequestLogRollupsRepository } from './rollups/request-log-rollups.repository.js';
import { RequestLogRollupsService } from './rollups/request-log-rollups.service.js';
import { RequestLogsController } from './reading/request-logs.controller.js';
import { RequestLogsService } from './reading/request-logs.service.js';
import { RequestLogWriter } from './writing/request-log-writer.js';
import { EntrySpool } from './writing/entry-spool.js';

const PROVIDERS = [
  LogReads,
  RequestLogRepository,
  RequestLogWriter,
  EntrySpool,
  OperatorRequestLog,
  RequestLogsService,
  OrganizationQueryQueue,
  RequestLogRollupsRepository,
  RequestLogRollupsService,
  RequestLogOverviewRepository,
  RequestLogOverviewService,
];

@Module({
  controllers: [RequestLogsController, RequestLogsPagesController],
  providers: PROVIDERS,
  exports: PROVIDERS,
})
export class RequestLogsModule {}
