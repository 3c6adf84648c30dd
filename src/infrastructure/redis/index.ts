export { checkRedis } from './redis-client.js';
export { RedisConfiguration } from './redis.configuration.js';
export { Redis, RedisModule } from './redis.js';
