import { Module } from '@nestjs/common';
import { OrganizationTurns } from './reading/organization-turns.js';
import { PostgresRequestLogRepository } from './storage/postgres-request-log.repository.js';
import { RequestLogHistory } from './reading/request-log-history.js';
import { RequestLogPartitions } from './partitions/request-log-partitions.js';
import { RequestLogOverviewRepository } from './rollups/request-log-overview.repository.js';
import { RequestLogOverviewService } from './rollups/request-log-overview.service.js';
import { RequestLogRollupsJob } from './rollups/request-log-rollups.job.js';
import { RequestLogRollupsRepository } from './rollups/request-log-rollups.repository.js';
import { RequestLogRollupsService } from './rollups/request-log-rollups.service.js';
import { RequestLogStore } from './storage/request-log-store.js';
import { RequestLogsController } from './reading/request-logs.controller.js';
import { RequestLogsService } from './reading/request-logs.service.js';
import { RequestLogWriter } from './writing/request-log-writer.js';
import { RequestLogsRotation } from './partitions/request-logs.rotation.js';

@Module({
  controllers: [RequestLogsController],
  providers: [
    { provide: RequestLogStore, useClass: PostgresRequestLogRepository },
    RequestLogWriter,
    RequestLogHistory,
    RequestLogPartitions,
    RequestLogsRotation,
    RequestLogsService,
    OrganizationTurns,
    RequestLogRollupsRepository,
    RequestLogRollupsService,
    RequestLogRollupsJob,
    RequestLogOverviewRepository,
    RequestLogOverviewService,
  ],
  exports: [
    RequestLogWriter,
    RequestLogStore,
    RequestLogHistory,
    RequestLogPartitions,
    RequestLogRollupsService,
    RequestLogOverviewService,
  ],
})
export class RequestLogsModule {}
