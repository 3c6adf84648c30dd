export { MERCHANT_ACCOUNTS_TOPIC } from './merchant-accounts.docs.js';
export { AccountMerchantResponse, MerchantAccountResponse } from './merchant-accounts.dto.js';
export { CHANGE_ACCOUNTS } from './sql/change-accounts.js';
export { MERCHANT_ACCOUNT_DISCONNECTED, MERCHANT_ACCOUNT_NOT_FOUND } from './merchant-account-errors.js';
export { MERCHANT_ACCOUNT_STATE } from './merchant-account-state.js';
export { MerchantAccountsModule } from './merchant-accounts.module.js';
export { MerchantAccountsService } from './merchant-accounts.service.js';
