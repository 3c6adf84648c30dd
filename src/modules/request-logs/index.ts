export { MAX_PERIOD, MAX_PERIOD_DAYS, periodSince, validPeriod } from './request-log-period.js';
export {
  ENTRY_QUERY_TIMEOUT_MESSAGE,
  ListRequestLogsQuery,
  REQUEST_LOG_COLUMNS,
  type RequestLogEntryResponse,
  type RequestLogEntry,
} from './request-logs.dto.js';
export { entryColumns, hostOf, type FilterOption } from './pages/request-logs.pages.js';
export { addressOf } from './pages/request-log-entry.pages.js';
export { deliveryFailure } from './pages/delivery-failures.js';
export { EventBodies, WebhookFilterOptions } from './pages/request-log-list.pages.js';
export { RequestLogsService } from './reading/request-logs.service.js';
export { UserActivityRepository, type UserActivity } from './reading/user-activity.repository.js';
export { OperatorRequestLog } from './reading/operator-request-log.js';
export { LogReads, OrganizationQueryQueue, unlessBusy, type LogReadOptions } from './storage/log-reads.js';
export {
  OVERVIEW_PERIODS,
  OverviewQuery,
  RequestLogOverviewService,
  type OutcomeCounts,
  type OverviewPeriod,
  type RequestLogOverview,
  type Trend,
} from './rollups/request-log-overview.service.js';
export { RequestLogRollupsService } from './rollups/request-log-rollups.service.js';
export { RequestLogsConfiguration } from './request-logs.configuration.js';
export type { RequestLogFilter } from './storage/request-log-filter.js';
export { appendEntries, RequestLogRepository, toEntryItem } from './storage/request-log.repository.js';
export type {
  AttemptSummary,
  FailedDeliveries,
  NewRequestLogEntry,
  RequestLogPosition,
} from './request-log-entry.js';
export { RequestLogsModule } from './request-logs.module.js';
export { countSavedFiles } from './writing/entry-spool.js';
export { RequestLogWriter } from './writing/request-log-writer.js';
export { REQUEST_LOG_PERMISSIONS } from './request-logs.capability.js';
export { REQUEST_LOG_QUERY_TIMEOUT } from './request-logs-errors.js';
