import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditLogsModule } from '../audit-logs/index.js';
import { MerchantCatalogRepository } from './merchant-catalog.repository.js';
import { MerchantCatalogService } from './merchant-catalog.service.js';
import { MerchantListController } from './merchant-list.controller.js';
import { MerchantName } from './merchant-name.entity.js';
import { MerchantVisibility } from './merchant-visibility.entity.js';
import { Merchant } from './merchant.entity.js';
import { MerchantsController } from './merchants.controller.js';
import { MerchantsPagesController } from './merchants-pages.controller.js';
import { MerchantsPagesService } from './merchants-pages.service.js';
import { MerchantsRepository } from './merchants.repository.js';
import { MerchantsService } from './merchants.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([Merchant, MerchantName, MerchantVisibility]), AuditLogsModule],
  controllers: [MerchantListController, MerchantsController, MerchantsPagesController],
  providers: [
    MerchantsService,
    MerchantsPagesService,
    MerchantsRepository,
    MerchantCatalogService,
    MerchantCatalogRepository,
  ],
  exports: [MerchantCatalogService, MerchantsService],
})
export class MerchantsModule {}
