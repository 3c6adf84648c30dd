import { Module } from '@nestjs/common';
import { MerchantsModule } from '../merchants/index.js';
import { MerchantAccountsController } from './merchant-accounts.controller.js';
import { MerchantAccountsPagesController } from './merchant-accounts-pages.controller.js';
import { MerchantAccountsRepository } from './merchant-accounts.repository.js';
import { MerchantAccountsService } from './merchant-accounts.service.js';

@Module({
  imports: [MerchantsModule],
  controllers: [MerchantAccountsController, MerchantAccountsPagesController],
  providers: [MerchantAccountsService, MerchantAccountsRepository],
  exports: [MerchantAccountsService, MerchantAccountsRepository],
})
export class MerchantAccountsModule {}
