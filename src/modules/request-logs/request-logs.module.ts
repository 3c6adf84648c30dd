import { Global, Module } from '@nestjs/common';
import { RequestRecorder } from '../../infrastructure/http/index.js';
import { PostgresRequestLogRepository } from './storage/postgres-request-log.repository.js';
import { RequestLogHistory } from './reading/request-log-history.js';
import { RequestLogPartitions } from './partitions/request-log-partitions.js';
import { RequestLogStore } from './storage/request-log-store.js';
import { RequestLogsController } from './reading/request-logs.controller.js';
import { RequestLogsService } from './reading/request-logs.service.js';
import { RequestLogWriter } from './writing/request-log-writer.js';
import { RequestLogsRotation } from './partitions/request-logs.rotation.js';

/** Global, because the HTTP server injects `RequestRecorder`. */
@Global()
@Module({
  providers: [
    { provide: RequestLogStore, useClass: PostgresRequestLogRepository },
    RequestLogWriter,
    { provide: RequestRecorder, useExisting: RequestLogWriter },
    RequestLogHistory,
    RequestLogPartitions,
  ],
  exports: [RequestRecorder, RequestLogStore, RequestLogHistory, RequestLogPartitions],
})
export class RequestLogsModule {}

/** For processes that write to the log. Commands leave the partitions as they are, because they report on them. */
@Module({ providers: [RequestLogsRotation] })
export class RequestLogRotationModule {}

/** Operation 3: only where the dashboard API is served. */
@Module({ controllers: [RequestLogsController], providers: [RequestLogsService] })
export class RequestLogOperationsModule {}
