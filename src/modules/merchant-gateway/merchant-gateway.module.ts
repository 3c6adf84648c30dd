import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { MerchantAccountsModule } from '../merchant-accounts/index.js';
import { MerchantGatewayService } from './merchant-gateway.service.js';
import { MerchantSignOut } from './merchant-sign-out.entity.js';
import { MerchantSignOutsJob } from './merchant-sign-outs.job.js';
import { MerchantSignOutsRepository } from './merchant-sign-outs.repository.js';
import { UnlinkingController } from './unlinking.controller.js';
import { UnlinkingService } from './unlinking.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([MerchantSignOut]), MerchantAccountsModule],
  controllers: [UnlinkingController],
  providers: [MerchantGatewayService, UnlinkingService, MerchantSignOutsRepository, MerchantSignOutsJob],
  exports: [MerchantGatewayService, MerchantSignOutsRepository],
})
export class MerchantGatewayModule {}
