import { Module } from '@nestjs/common';
import { MerchantsModule } from '../merchants/index.js';
import { WebhooksModule } from '../webhooks/index.js';
import { MerchantStatusesController } from './merchant-statuses.controller.js';
import { MerchantStatusesRepository } from './merchant-statuses.repository.js';
import { MerchantStatusesService } from './merchant-statuses.service.js';

@Module({
  imports: [MerchantsModule, WebhooksModule],
  controllers: [MerchantStatusesController],
  providers: [MerchantStatusesService, MerchantStatusesRepository],
  exports: [MerchantStatusesService],
})
export class MerchantStatusesModule {}
