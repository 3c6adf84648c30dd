export * from './metrics.js';
export * from './metrics-server.js';
export * from './metrics.module.js';
export * from './metrics.configuration.js';
