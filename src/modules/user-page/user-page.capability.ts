import { auditActions, by, inEnvironment } from '../../infrastructure/audit-catalog/index.js';

const USER_PAGE_ACTIONS = auditActions({
  'merchant_account.unlink': by('A user of an API client')(
    inEnvironment('merchant_account'),
    'unlinked/unlink a merchant account (at *)',
    'The entry names the merchant, not the user. Accounts that API clients unlink are not recorded.',
  ),
});

declare module '../../infrastructure/audit-catalog/index.js' {
  interface AuditActions extends Record<keyof typeof USER_PAGE_ACTIONS, never> {}
}
