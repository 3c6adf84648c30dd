import { Global, Module } from '@nestjs/common';
import { AttemptLimitsCleaning } from './attempt-limits.cleaning.js';
import { AttemptLimits } from './attempt-limits.repository.js';
import { RateLimiters } from './rate-limiters.js';
import { Refusals } from './refusals.js';

@Global()
@Module({
  providers: [Refusals, RateLimiters, AttemptLimits, AttemptLimitsCleaning],
  exports: [RateLimiters, AttemptLimits],
})
export class RateLimitingModule {}
