import { Module } from '@nestjs/common';
import { MerchantsModule } from '../merchants/index.js';
import { MerchantAccountsController } from './merchant-accounts.controller.js';
import { MerchantAccountsPage } from './merchant-accounts.pages.js';
import { MerchantAccountsRepository } from './merchant-accounts.repository.js';
import { MerchantAccountsService } from './merchant-accounts.service.js';
import './merchant-accounts.capability.js';

/** Accounts of users at merchants: connected or disconnected, and since when. */
@Module({
  imports: [MerchantsModule],
  controllers: [MerchantAccountsController, MerchantAccountsPage],
  providers: [MerchantAccountsService, MerchantAccountsRepository],
  exports: [MerchantAccountsService, MerchantAccountsRepository],
})
export class MerchantAccountsModule {}
