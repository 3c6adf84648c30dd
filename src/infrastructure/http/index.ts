export { CallRecorder, type FinishedCall } from './call-recorder.js';
export { HttpAdapter } from './http-adapter.js';
export { HttpConfiguration } from './http.configuration.js';
export { HttpModule } from './http.module.js';
export { JsonBody } from './json-body.decorator.js';
export { NoStore } from './no-store.js';
export { requestContext, type AttributedClient } from './request-context.js';
export { prepareHttpServer } from './server.js';
