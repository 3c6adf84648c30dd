export * from './redis-client.js';
export * from './redis.configuration.js';
export * from './redis.js';
