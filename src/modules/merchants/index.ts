export { matchKeys } from './match-key.js';
export { MERCHANT_ID_PARAMETER, MerchantIdField, MerchantNameField } from './merchants.dto.js';
export { MerchantsService } from './merchants.service.js';
export { MerchantsModule } from './merchants.module.js';
export {
  MAX_MERCHANT_ID,
  MerchantCatalogService,
  requireMerchants,
  type CatalogEntry,
} from './merchant-catalog.service.js';
export { MERCHANT_PERMISSIONS } from './merchants.capability.js';
export { MERCHANT_NOT_FOUND } from './merchants-errors.js';
