export { RequestLogsConfiguration } from './request-logs.configuration.js';
export {
  RequestLogStore,
  type NewRequestLogEntry,
  type RequestLogEntry,
  type RequestLogFilter,
  type RequestLogPosition,
} from './request-log-store.js';
export { RequestLogOperationsModule, RequestLogsModule } from './request-logs.module.js';
