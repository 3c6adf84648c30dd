export {
  AttemptLimitsRepository,
  tooManyAttempts,
  type LimitedAttempt,
} from './attempt-limits.repository.js';
export { FailedCredentials } from './failed-credentials.js';
export { RateLimiters, type RateLimit } from './rate-limiters.js';
export {
  ConnectorRateLimitConfiguration,
  DashboardRateLimitConfiguration,
  PlatformRateLimitConfiguration,
} from './rate-limit.configuration.js';
export { RateLimitingModule } from './rate-limiting.module.js';
