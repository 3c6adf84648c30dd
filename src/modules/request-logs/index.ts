export { RequestLogHistory } from './request-log-history.js';
export { RequestLogPartitions } from './request-log-partitions.js';
export { RequestLogsConfiguration } from './request-logs.configuration.js';
export type { SingleRequestLogEntryResponse } from './request-logs.dto.js';
export {
  RequestLogStore,
  type NewRequestLogEntry,
  type RequestLogEntry,
  type RequestLogFilter,
  type RequestLogPosition,
} from './request-log-store.js';
export {
  RequestLogOperationsModule,
  RequestLogRotationModule,
  RequestLogsModule,
} from './request-logs.module.js';
