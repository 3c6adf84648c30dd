import { Module } from '@nestjs/common';
import { DetectedAccountsModule } from '../detected-accounts/index.js';
import { MerchantsModule } from '../merchants/index.js';
import { SessionsModule } from '../sessions/index.js';
import { WebhooksModule } from '../webhooks/index.js';
import { SandboxController } from './sandbox.controller.js';
import { SandboxService } from './sandbox.service.js';
import { TaskIdsRepository } from './task-ids.repository.js';

@Module({
  imports: [DetectedAccountsModule, MerchantsModule, SessionsModule, WebhooksModule],
  controllers: [SandboxController],
  providers: [SandboxService, TaskIdsRepository],
})
export class SandboxModule {}
