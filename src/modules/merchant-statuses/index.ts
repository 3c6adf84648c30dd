export { MerchantStatusesModule } from './merchant-statuses.module.js';
export { MerchantStatusesService, type StatusByType } from './merchant-statuses.service.js';
