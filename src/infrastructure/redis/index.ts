export * from './redis.configuration.js';
export * from './redis.js';
export * from './redis.module.js';
