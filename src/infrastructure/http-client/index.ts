export * from './http-client.configuration.js';
export * from './http-client.js';
export * from './http-client.module.js';
export * from './public-url.js';
export * from './service-client.js';
export * from './response.js';
export * from './stopwatch.js';
export * from './transport-error.js';
