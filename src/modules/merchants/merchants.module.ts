import { Module } from '@nestjs/common';
import { AuditLogsModule } from '../audit-logs/index.js';
import { MerchantCatalogService } from './merchant-catalog.service.js';
import { MerchantsController } from './merchants.controller.js';
import { MerchantsPage } from './merchants.pages.js';
import { MerchantsRepository } from './merchants.repository.js';
import { MerchantsService } from './merchants.service.js';

@Module({
  imports: [AuditLogsModule],
  controllers: [MerchantsController, MerchantsPage],
  providers: [MerchantsService, MerchantsRepository, MerchantCatalogService],
  exports: [MerchantCatalogService, MerchantsService],
})
export class MerchantsModule {}
