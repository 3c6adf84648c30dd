export { MERCHANT_ACCOUNT_STATE } from './merchant-account.entity.js';
export { MerchantAccountsModule } from './merchant-accounts.module.js';
export {
  MERCHANT_ACCOUNT_DISCONNECTED,
  MERCHANT_ACCOUNT_NOT_FOUND,
  MerchantAccountsService,
} from './merchant-accounts.service.js';
