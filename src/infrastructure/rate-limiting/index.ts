export { DashboardRateLimitGuard } from './dashboard-rate-limit.guard.js';
export { RateLimitGuard } from './rate-limit.guard.js';
