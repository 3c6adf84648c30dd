import { Global, Module } from '@nestjs/common';
import { AttemptLimitsCleaning } from './attempt-limits.cleaning.js';
import { AttemptLimits } from './attempt-limits.repository.js';
import { RateLimiters } from './rate-limiters.js';
import { Refusals } from './refusals.js';
import { SeparateCountsWarning } from './separate-counts.warning.js';

@Global()
@Module({
  providers: [Refusals, RateLimiters, AttemptLimits, AttemptLimitsCleaning, SeparateCountsWarning],
  exports: [RateLimiters, AttemptLimits],
})
export class RateLimitingModule {}
