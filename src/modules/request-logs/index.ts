export { OrganizationTurns } from './reading/organization-turns.js';
export { MAX_PERIOD_DAYS, validatePeriod } from './reading/request-log-period.js';
export { EventBodies } from './pages/event-bodies.js';
export { REQUEST_LOG_COLUMNS } from './reading/request-log-response.js';
export { RequestLogHistory } from './reading/request-log-history.js';
export { LogReads, type LogReadOptions } from './storage/log-reads.js';
export { RequestLogPartitions } from './storage/request-log-partitions.js';
export type { OutcomeCounts, RequestLogOverview } from './rollups/request-log-overview.js';
export { RequestLogOverviewService, type OverviewPeriod } from './rollups/request-log-overview.service.js';
export { REQUEST_LOG_ROLLUPS_JOB } from './rollups/request-log-rollups.job.js';
export { RequestLogRollupsService } from './rollups/request-log-rollups.service.js';
export { RequestLogsConfiguration } from './request-logs.configuration.js';
export type { RequestLogHistoryEntry } from './reading/request-logs.dto.js';
export { REQUEST_LOG_ROTATION, RequestLogRepository } from './storage/request-log.repository.js';
export type {
  AttemptPosition,
  AttemptSummary,
  LoggedEndpoint,
  NewRequestLogEntry,
  RequestLogEntry,
  RequestLogFilter,
  RequestLogPosition,
} from './storage/request-log-entry.js';
export { RequestLogsModule } from './request-logs.module.js';
export { RequestLogWriter } from './writing/request-log-writer.js';
