import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { MerchantsModule } from '../merchants/index.js';
import { MerchantAccount } from './merchant-account.entity.js';
import { MerchantAccountsController } from './merchant-accounts.controller.js';
import { MerchantAccountsPage } from './merchant-accounts.pages.js';
import { MerchantAccountsRepository } from './merchant-accounts.repository.js';
import { MerchantAccountsService } from './merchant-accounts.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([MerchantAccount]), MerchantsModule],
  controllers: [MerchantAccountsController, MerchantAccountsPage],
  providers: [MerchantAccountsService, MerchantAccountsRepository],
  exports: [MerchantAccountsService, MerchantAccountsRepository],
})
export class MerchantAccountsModule {}
