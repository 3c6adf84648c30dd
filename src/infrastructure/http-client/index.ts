export { HttpClientConfiguration } from './http-client.configuration.js';
export { HttpClient, HttpClientModule, type OutgoingResult } from './http-client.js';
export { hasPrivateAddress, normalUrl, type UrlProblem } from './public-url.js';
export { ServiceClient, type ServiceRequest } from './service-client.js';
export type { ResponseText } from './response.js';
export type { RequestPhases } from './stopwatch.js';
export { TRANSPORT_FAILURES, type Fault, type TransportFailure } from './transport-error.js';
