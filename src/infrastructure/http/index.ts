export { BackgroundTasks } from './background-tasks.js';
export { browserName } from './browser-name.js';
export { RequestRecorder, type CompletedRequest } from './request-recorder.js';
export { clearCookie, cookieOf, setCookie } from './cookies.js';
export { isCrossSiteRequest, isFromOtherSite } from './cross-site-requests.js';
export { ErrorFormats, type ErrorFormat } from './error-formats.js';
export { Failures } from './failures.js';
export { readForm, type FormFields, type FormOptions } from './form-body.js';
export { GracefulShutdown } from './graceful-shutdown.js';
export { HiddenFromAgentsGuard } from './hidden-from-agents.guard.js';
export { HttpAdapter } from './http-adapter.js';
export { HttpServicesModule } from './http-services.module.js';
export { HttpConfiguration } from './http.configuration.js';
export { HttpModule } from './http.module.js';
export {
  JsonBody,
  JsonOrLinesBody,
  NEITHER_JSON_NOR_LINES,
  NOT_JSON,
  readJsonBody,
} from './json-body.decorator.js';
export { isLoopback } from './loopback.js';
export { nearestPath } from './nearest-path.js';
export { dashboardPath, environmentOf, inEachEnvironment } from './dashboard-path.js';
export { OriginGuard } from './origin.guard.js';
export { PublicAddress } from './public-address.js';
export {
  Attribution,
  requestContext,
  type AttributedClient,
  type RequestAttribution,
} from './request-context.js';
export { Origin, requestOrigin, type RequestOrigin } from './request-origin.js';
export { prepareHttpServer } from './server.js';
export { UNSUPPORTED_CONTENT_ENCODING } from './request-body.js';
export { rateLimitKeyOfAddress } from './rate-limit-key.js';
export { keepRoutesOf, OnSurface } from './served-surfaces.js';
export { Startup } from './startup.js';
export { StaticContent } from './static-content.js';
