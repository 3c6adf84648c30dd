export { matchKeys } from './match-key.js';
export { MERCHANT_ID_PARAMETER } from './merchants.dto.js';
export { MerchantsService } from './merchants.service.js';
export { MerchantsModule } from './merchants.module.js';
export {
  MAX_MERCHANT_ID,
  MERCHANT_NOT_FOUND,
  MerchantCatalogService,
  requireMerchants,
  type CatalogEntry,
} from './merchant-catalog.service.js';
