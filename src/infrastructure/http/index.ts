export { browserName } from './browser-name.js';
export { clearCookie, cookieOf, isCrossSiteRequest, isFromOtherSite, setCookie } from './cookies.js';
export { OriginGuard } from './cross-origin-requests.js';
export { dashboardPath, environmentOf, inEachEnvironment } from './dashboard-path.js';
export { ExceptionFilter, Failures, withErrorBody } from './exception.filter.js';
export { FORM_LIMIT, FormFields, readForm, type FormOptions } from './form-body.js';
export { HiddenFromAgentsGuard } from './hidden-from-agents.guard.js';
export { HttpAdapter, prepareHttpServer } from './http-adapter.js';
export { HttpConfiguration } from './http.configuration.js';
export { HttpModule, HttpServicesModule } from './http.module.js';
export { JsonBodyGuard, JsonOrLinesBodyGuard, NEITHER_JSON_NOR_LINES, NOT_JSON } from './json-body.guard.js';
export { nearestPath } from './nearest-path.js';
export { isLoopback, PublicAddress } from './public-address.js';
export { UNSUPPORTED_CONTENT_ENCODING } from './request-body.js';
export {
  Attribution,
  requestContext,
  requestParameter,
  RequestRecorder,
  type AttributedClient,
  type CompletedRequest,
  type RequestAttribution,
} from './request-context.js';
export {
  clientAddress,
  Origin,
  rateLimitKeyOfAddress,
  requestOrigin,
  type RequestOrigin,
} from './request-origin.js';
export { OnSurface, RouteTable } from './route-table.js';
export { BackgroundTasks, GracefulShutdown, Startup } from './startup-and-shutdown.js';
export { StaticContent } from './static-content.js';
