export { AttemptLimitsRepository, type AttemptLimit } from './attempt-limits.repository.js';
export { RateLimitGuard, type RateLimit } from './rate-limit.guard.js';
export { DashboardRateLimitConfiguration } from './dashboard-rate-limit.configuration.js';
export { RateLimitingModule } from './rate-limiting.module.js';
