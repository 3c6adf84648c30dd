import { Global, Module } from '@nestjs/common';
import { AttemptLimitsCleaning } from './attempt-limits.cleaning.js';
import { AttemptLimitsRepository } from './attempt-limits.repository.js';
import { RateLimiters } from './rate-limiters.js';
import { RateLimitRejections } from './rate-limit-rejections.js';

@Global()
@Module({
  providers: [RateLimitRejections, RateLimiters, AttemptLimitsRepository, AttemptLimitsCleaning],
  exports: [RateLimiters, AttemptLimitsRepository],
})
export class RateLimitingModule {}
