export { matchKeys } from './match-key.js';
export { ENVIRONMENT_ERRORS, MERCHANT_ID_PARAMETER } from './merchants.docs.js';
export { MerchantsService, requestedClient } from './merchants.service.js';
export { MerchantsModule } from './merchants.module.js';
export {
  MAX_MERCHANT_ID,
  MERCHANT_NOT_FOUND,
  MerchantCatalogService,
  requireMerchants,
  type CatalogEntry,
} from './merchant-catalog.service.js';
