import { Global, Module } from '@nestjs/common';
import { IdempotentRequests } from './idempotent-requests.js';

@Global()
@Module({ providers: [IdempotentRequests], exports: [IdempotentRequests] })
export class IdempotencyModule {}
