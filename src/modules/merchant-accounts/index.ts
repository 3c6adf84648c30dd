export {
  AccountMerchantResponse,
  MERCHANT_ACCOUNTS_TOPIC,
  MerchantAccountResponse,
  type MerchantAccountPage,
} from './merchant-accounts.dto.js';
export { ACCOUNT_COLUMNS } from './merchant-accounts.pages.js';
export { CHANGE_ACCOUNTS } from './sql/change-accounts.js';
export { MERCHANT_ACCOUNT_STATE } from './merchant-account.entity.js';
export { MerchantAccountsModule } from './merchant-accounts.module.js';
export { MerchantAccountsRepository } from './merchant-accounts.repository.js';
export { MERCHANT_ACCOUNT_DISCONNECTED, MERCHANT_ACCOUNT_NOT_FOUND } from './merchant-accounts-errors.js';
export { MerchantAccountsService, type AccountCheck } from './merchant-accounts.service.js';
