export { matchKey } from './match-key.js';
export { MERCHANT_NOT_FOUND } from './merchant-errors.js';
export { OTHER_ENVIRONMENT } from './merchants.service.js';
export { MerchantsService } from './merchants.service.js';
export { MerchantsModule } from './merchants.module.js';
export { MerchantCatalogService, type CatalogEntry } from './merchant-catalog.service.js';
