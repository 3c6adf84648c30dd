export { RequestLogsConfiguration } from './request-logs.configuration.js';
export { RequestLogStore, type NewRequestLogEntry } from './request-log-store.js';
export { RequestLogOperationsModule, RequestLogsModule } from './request-logs.module.js';
