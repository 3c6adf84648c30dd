import { Module } from '@nestjs/common';
import { AuditLogsModule } from '../audit-logs/index.js';
import { MerchantCatalogService } from './merchant-catalog.service.js';
import { MerchantsController } from './merchants.controller.js';
import { HideMerchantsPage, MerchantsPage } from './merchants.pages.js';
import { MerchantsRepository } from './merchants.repository.js';
import { MerchantsService } from './merchants.service.js';
import './merchants.capability.js';

/** Merchants, their names and aliases, name matching; which merchants an organization hides. */
@Module({
  imports: [AuditLogsModule],
  controllers: [MerchantsController, HideMerchantsPage, MerchantsPage],
  providers: [MerchantsService, MerchantsRepository, MerchantCatalogService],
  exports: [MerchantCatalogService, MerchantsService],
})
export class MerchantsModule {}
