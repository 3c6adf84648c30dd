export { matchKey } from './match-key.js';
export { MerchantOperationsModule, MerchantsModule } from './merchants.module.js';
export { MerchantsService } from './merchants.service.js';
