export * from './cached-value.js';
export * from './metrics.js';
export * from './metrics-server.js';
