import { Global, Module } from '@nestjs/common';
import { AttemptLimitsCleaning } from './attempt-limits.cleaning.js';
import { AttemptLimits } from './attempt-limits.repository.js';

@Global()
@Module({ providers: [AttemptLimits, AttemptLimitsCleaning], exports: [AttemptLimits] })
export class RateLimitingModule {}
