export { RequestLogsModule } from './request-logs.module.js';
