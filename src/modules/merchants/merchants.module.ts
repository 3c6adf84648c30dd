import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditLogsModule } from '../audit-logs/index.js';
import { MerchantName } from './merchant-name.entity.js';
import { MerchantVisibility } from './merchant-visibility.entity.js';
import { MerchantVisibilityRepository } from './merchant-visibility.repository.js';
import { MerchantVisibilityService } from './merchant-visibility.service.js';
import { Merchant } from './merchant.entity.js';
import { MerchantsController } from './merchants.controller.js';
import { MerchantsRepository } from './merchants.repository.js';
import { MerchantsService } from './merchants.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([Merchant, MerchantName])],
  providers: [MerchantsService, MerchantsRepository],
  exports: [MerchantsService],
})
export class MerchantsModule {}

/** Operations of organizations on merchants: only where the dashboard API is served. */
@Module({
  imports: [TypeOrmModule.forFeature([MerchantVisibility]), AuditLogsModule],
  controllers: [MerchantsController],
  providers: [MerchantVisibilityService, MerchantVisibilityRepository],
})
export class MerchantOperationsModule {}
