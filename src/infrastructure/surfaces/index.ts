export {
  calledTool,
  idOf,
  INVALID_PARAMS,
  jsonRpcErrorOf,
  METHOD_NOT_FOUND,
  type JsonRpcMessage,
} from './json-rpc.js';
export {
  CareersOperation,
  ConnectorRoute,
  DashboardLimitGuard,
  DashboardOperation,
  describeLimits,
  ENVIRONMENT_ERRORS,
  InternalOperation,
  PlatformOperation,
  SdkOperation,
} from './operations.js';
export { OrganizationQueue, OutsideOrganizationQueue } from './organization-queue.interceptor.js';
export { RateLimitGuard } from './rate-limit.guard.js';
