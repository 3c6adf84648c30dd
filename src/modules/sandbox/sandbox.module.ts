import { Module } from '@nestjs/common';
import { DetectedAccountsModule } from '../detected-accounts/index.js';
import { MerchantAccountsModule } from '../merchant-accounts/index.js';
import { MerchantsModule } from '../merchants/index.js';
import { SessionsModule } from '../sessions/index.js';
import { WebhooksModule } from '../webhooks/index.js';
import { SandboxController } from './sandbox.controller.js';
import { SandboxService } from './sandbox.service.js';

/** Operations to test an integration with development credentials. */
@Module({
  imports: [DetectedAccountsModule, MerchantAccountsModule, MerchantsModule, SessionsModule, WebhooksModule],
  controllers: [SandboxController],
  providers: [SandboxService],
})
export class SandboxModule {}
