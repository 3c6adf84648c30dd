export { BackgroundTasks } from './background-tasks.js';
export { CallRecorder, type FinishedCall } from './call-recorder.js';
export { clearCookie, cookieOf, setCookie } from './cookies.js';
export { isForgedByAnotherSite } from './cross-site.js';
export { Drain } from './drain.js';
export { ErrorDialects, type ErrorDialect } from './error-dialects.js';
export { readForm, type FormFields } from './form-body.js';
export { HttpAdapter } from './http-adapter.js';
export { HttpServicesModule } from './http-services.module.js';
export { HttpConfiguration } from './http.configuration.js';
export { HttpModule } from './http.module.js';
export { JsonBody } from './json-body.decorator.js';
export { PublicAddress } from './public-address.js';
export {
  Attribution,
  requestContext,
  type AttributedClient,
  type CallAttribution,
} from './request-context.js';
export { Origin, requestOrigin, type RequestOrigin } from './request-origin.js';
export { prepareHttpServer } from './server.js';
export { subscriberOf } from './subscriber.js';
