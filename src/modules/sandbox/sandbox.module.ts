import { Module } from '@nestjs/common';
import { DetectedAccountsModule } from '../detected-accounts/index.js';
import { MerchantsModule } from '../merchants/index.js';
import { SandboxController } from './sandbox.controller.js';
import { SandboxService } from './sandbox.service.js';
import { TaskIdsRepository } from './task-ids.repository.js';

@Module({
  imports: [DetectedAccountsModule, MerchantsModule],
  controllers: [SandboxController],
  providers: [SandboxService, TaskIdsRepository],
})
export class SandboxModule {}
