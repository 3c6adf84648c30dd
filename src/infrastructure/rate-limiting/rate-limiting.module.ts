import { Global, Module } from '@nestjs/common';
import { AttemptLimitsRepository } from './attempt-limits.repository.js';
import { FailedCredentials } from './failed-credentials.js';
import { RateLimiters, RateLimitRejections } from './rate-limiters.js';

@Global()
@Module({
  providers: [RateLimitRejections, RateLimiters, AttemptLimitsRepository, FailedCredentials],
  exports: [RateLimiters, AttemptLimitsRepository, FailedCredentials],
})
export class RateLimitingModule {}
