export { matchKeys } from './match-key.js';
export { MERCHANT_NOT_FOUND } from './merchant-errors.js';
export { MerchantsService, OTHER_ENVIRONMENT } from './merchants.service.js';
export { MerchantsModule } from './merchants.module.js';
export { MerchantCatalogService, type CatalogEntry } from './merchant-catalog.service.js';
