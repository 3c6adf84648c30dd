export { Redis } from './redis.js';
export type { RedisScript } from './redis-connection.js';
export { RedisModule } from './redis.module.js';
