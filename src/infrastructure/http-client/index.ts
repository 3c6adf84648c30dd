export { HttpClientConfiguration } from './http-client.configuration.js';
export { HttpClientModule } from './http-client.module.js';
export { HttpClient, type OutgoingResult } from './http-client.js';
export { hasPrivateAddress, type UrlProblem } from './public-url.js';
export type { ResponseText } from './response-text.js';
export type { RequestPhases } from './stopwatch.js';
export { TRANSPORT_FAILURES, type TransportFailure } from './transport-error.js';
