import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AttemptCount } from './attempt-count.entity.js';
import { AttemptLimitsRepository } from './attempt-limits.repository.js';
import { FailedCredentials } from './failed-credentials.js';
import { RateLimiters, RateLimitRejections } from './rate-limiters.js';

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([AttemptCount])],
  providers: [RateLimitRejections, RateLimiters, AttemptLimitsRepository, FailedCredentials],
  exports: [RateLimiters, AttemptLimitsRepository, FailedCredentials],
})
export class RateLimitingModule {}
