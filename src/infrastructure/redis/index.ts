export { Redis } from './redis.js';
export { RedisModule } from './redis.module.js';
