export { RateLimitGuard, type RateLimit } from './rate-limit.guard.js';
