export { CareersOperation } from './careers-operation.js';
export { DashboardOperation } from './dashboard-operation.js';
export { PlatformOperation } from './platform-operation.js';
