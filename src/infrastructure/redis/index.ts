export { checkRedis } from './check-redis.js';
export { RedisConfiguration } from './redis.configuration.js';
export { Redis } from './redis.js';
export { RedisModule } from './redis.module.js';
