export { MerchantStatusesModule } from './merchant-statuses.module.js';
export { MerchantStatusesService } from './merchant-statuses.service.js';
