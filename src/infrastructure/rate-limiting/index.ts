export { AttemptLimitsRepository, type AttemptLimit } from './attempt-limits.repository.js';
export { DashboardRateLimitGuard } from './dashboard-rate-limit.guard.js';
export { RateLimitGuard } from './rate-limit.guard.js';
export { RateLimiters } from './rate-limiters.js';
export { RateLimitingConfiguration } from './rate-limiting.configuration.js';
export { RateLimitingModule } from './rate-limiting.module.js';
