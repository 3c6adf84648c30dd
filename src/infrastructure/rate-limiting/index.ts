export { AttemptLimitsRepository, type LimitedAttempt } from './attempt-limits.repository.js';
export { tooManyAttempts } from './too-many-attempts.js';
export { FailedCredentials } from './failed-credentials.js';
export { RateLimiters, type RateLimit } from './rate-limiters.js';
export {
  ConnectorRateLimitConfiguration,
  DashboardRateLimitConfiguration,
  PlatformRateLimitConfiguration,
} from './rate-limit.configuration.js';
export { RateLimitingModule } from './rate-limiting.module.js';
