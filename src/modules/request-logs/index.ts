export { MAX_PERIOD, MAX_PERIOD_DAYS, periodSince, validPeriod } from './reading/request-log-period.js';
export {
  ENTRY_QUERY_TIMEOUT_MESSAGE,
  REQUEST_LOG_QUERY_TIMEOUT,
  ListRequestLogsQuery,
  REQUEST_LOG_COLUMNS,
  type RequestLogEntryResponse,
  type RequestLogEntry,
} from './reading/request-logs.dto.js';
export { entryColumns, type FilterOption } from './pages/request-logs.pages.js';
export { deliveryFailure } from './pages/delivery-failures.js';
export { EventBodies, WebhookFilterOptions } from './pages/request-logs-pages.controller.js';
export { RequestLogsService } from './reading/request-logs.service.js';
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
export { RequestLogRepository } from './storage/request-log.repository.js';
export type {
  AttemptSummary,
  FailedDeliveries,
  NewRequestLogEntry,
  RequestLogPosition,
} from './storage/request-log-entry.js';
export { RequestLogsModule } from './request-logs.module.js';
export { RequestLogWriter } from './writing/request-log-writer.js';
