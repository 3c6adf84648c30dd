export { AttemptLimits, type AttemptLimit } from './attempt-limits.repository.js';
export { DashboardRateLimitGuard } from './dashboard-rate-limit.guard.js';
export { RateLimitGuard } from './rate-limit.guard.js';
export { RateLimitingModule } from './rate-limiting.module.js';
export { subscriber } from './subscriber.js';
