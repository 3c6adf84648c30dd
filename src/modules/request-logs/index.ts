export { RequestLogsConfiguration } from './request-logs.configuration.js';
export { RequestLogStore, type NewRequestLogEntry } from './request-log-store.js';
export { RequestLogsModule } from './request-logs.module.js';
