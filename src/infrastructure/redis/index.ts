export * from './redis.configuration.js';
export * from './redis.js';
