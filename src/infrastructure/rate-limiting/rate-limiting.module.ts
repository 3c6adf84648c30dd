import { Global, Module } from '@nestjs/common';
import { AttemptLimitsCleaning } from './attempt-limits.cleaning.js';
import { AttemptLimits } from './attempt-limits.repository.js';
import { RateLimits } from './rate-limits.js';

@Global()
@Module({
  providers: [AttemptLimits, AttemptLimitsCleaning, RateLimits],
  exports: [AttemptLimits, RateLimits],
})
export class RateLimitingModule {}
