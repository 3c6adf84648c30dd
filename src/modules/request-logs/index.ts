export { RequestLogHistory } from './reading/request-log-history.js';
export { RequestLogPartitions } from './partitions/request-log-partitions.js';
export type { OutcomeCounts, RequestLogOverview } from './rollups/request-log-overview.js';
export { RequestLogOverviewService, type OverviewPeriod } from './rollups/request-log-overview.service.js';
export { RequestLogRollupsService } from './rollups/request-log-rollups.service.js';
export { RequestLogsConfiguration } from './request-logs.configuration.js';
export type { RequestLogHistoryEntry } from './reading/request-logs.dto.js';
export {
  RequestLogStore,
  type AttemptPosition,
  type NewRequestLogEntry,
  type RequestLogEntry,
  type RequestLogFilter,
  type RequestLogPosition,
} from './storage/request-log-store.js';
export { RequestLogsModule } from './request-logs.module.js';
export { RequestLogWriter } from './writing/request-log-writer.js';
