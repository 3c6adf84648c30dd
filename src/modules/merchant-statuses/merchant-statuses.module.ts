import { Module } from '@nestjs/common';
import { MerchantsModule } from '../merchants/index.js';
import { WebhooksModule } from '../webhooks/index.js';
import { MerchantStatusesController } from './merchant-statuses.controller.js';
import { MerchantStatusesRepository } from './merchant-statuses.repository.js';
import { MerchantStatusesJob } from './merchant-statuses.job.js';
import { MerchantStatusesService } from './merchant-statuses.service.js';
import './merchant-statuses.capability.js';

/** Whether sessions work at merchants; notifies clients page by page. */
@Module({
  imports: [MerchantsModule, WebhooksModule],
  controllers: [MerchantStatusesController],
  providers: [MerchantStatusesService, MerchantStatusesJob, MerchantStatusesRepository],
  exports: [MerchantStatusesService],
})
export class MerchantStatusesModule {}
