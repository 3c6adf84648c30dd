export { matchKey } from './match-key.js';
export { MerchantsModule } from './merchants.module.js';
export { MerchantsService } from './merchants.service.js';
