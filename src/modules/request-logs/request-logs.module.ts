import { Module } from '@nestjs/common';
import { RequestLogsPage } from './pages/request-log-list.pages.js';
import { LogReads, OrganizationQueryQueue } from './storage/log-reads.js';
import { RequestLogRepository } from './storage/request-log.repository.js';
import { OperatorRequestLog } from './reading/operator-request-log.js';
import { RequestLogOverviewRepository } from './rollups/request-log-overview.repository.js';
import { RequestLogOverviewService } from './rollups/request-log-overview.service.js';
import { RequestLogRollupsRepository } from './rollups/request-log-rollups.repository.js';
import { RequestLogRollupsJob } from './rollups/request-log-rollups.job.js';
import { RequestLogRollupsService } from './rollups/request-log-rollups.service.js';
import { RequestLogsController } from './reading/request-logs.controller.js';
import { RequestLogsService } from './reading/request-logs.service.js';
import { UserActivityRepository } from './reading/user-activity.repository.js';
import { RequestLogWriter } from './writing/request-log-writer.js';
import { EntrySpool } from './writing/entry-spool.js';
import './request-logs.capability.js';

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
  RequestLogRollupsJob,
  RequestLogOverviewRepository,
  RequestLogOverviewService,
  UserActivityRepository,
];

/**
 * Operation 3: an entry for every platform API request and delivery attempt, in one partition per day;
 * rollups of them.
 */
@Module({
  controllers: [RequestLogsController, RequestLogsPage],
  providers: PROVIDERS,
  exports: PROVIDERS,
})
export class RequestLogsModule {}
