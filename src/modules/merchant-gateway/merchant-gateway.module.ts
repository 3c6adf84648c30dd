import { Module } from '@nestjs/common';
import { MerchantAccountsModule } from '../merchant-accounts/index.js';
import { MerchantGatewayService } from './merchant-gateway.service.js';
import { MerchantSignOutsJob } from './merchant-sign-outs.job.js';
import { MerchantSignOutsRepository } from './merchant-sign-outs.repository.js';
import { UnlinkingController } from './unlinking.controller.js';
import { UnlinkingService } from './unlinking.service.js';

/** Signs users in to merchants in production, through a system of the platform. */
@Module({
  imports: [MerchantAccountsModule],
  controllers: [UnlinkingController],
  providers: [MerchantGatewayService, UnlinkingService, MerchantSignOutsRepository, MerchantSignOutsJob],
  exports: [MerchantGatewayService, UnlinkingService],
})
export class MerchantGatewayModule {}
