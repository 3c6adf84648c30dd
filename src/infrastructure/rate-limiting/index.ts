export { RateLimitGuard } from './rate-limit.guard.js';
