import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { MerchantsModule } from '../merchants/index.js';
import { WebhooksModule } from '../webhooks/index.js';
import { MerchantStatus } from './merchant-status.entity.js';
import { MerchantStatusesController } from './merchant-statuses.controller.js';
import { MerchantStatusesRepository } from './merchant-statuses.repository.js';
import { MerchantStatusesService } from './merchant-statuses.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([MerchantStatus]), MerchantsModule, WebhooksModule],
  controllers: [MerchantStatusesController],
  providers: [MerchantStatusesService, MerchantStatusesRepository],
  exports: [MerchantStatusesService],
})
export class MerchantStatusesModule {}
