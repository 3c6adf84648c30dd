import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { FailedCredentials } from '../auth/index.js';
import { AttemptCount } from './attempt-count.entity.js';
import { AttemptLimitsRepository } from './attempt-limits.repository.js';
import { FailedCredentialLimits } from './failed-credential-limits.js';
import { RateLimiters } from './rate-limiters.js';
import { RateLimitRejections } from './rate-limit-rejections.js';

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([AttemptCount])],
  providers: [
    RateLimitRejections,
    RateLimiters,
    AttemptLimitsRepository,
    { provide: FailedCredentials, useClass: FailedCredentialLimits },
  ],
  exports: [RateLimiters, AttemptLimitsRepository, FailedCredentials],
})
export class RateLimitingModule {}
