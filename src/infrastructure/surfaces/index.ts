export { CareersOperation } from './careers-operation.js';
export { ConnectorRoute } from './connector-route.js';
export { DashboardLimitGuard, DashboardOperation } from './dashboard-operation.js';
export { InternalOperation } from './internal-operation.js';
export { describeLimits } from './limits.js';
export { OrganizationQueue } from './organization-queue.interceptor.js';
export { SharedOperation } from './shared-operation.js';
export { PlatformOperation, SdkOperation } from './platform-operation.js';
