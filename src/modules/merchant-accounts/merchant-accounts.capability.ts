import { z } from 'zod';
import { webhookEvents, WITHOUT_DATA } from '../../infrastructure/event-catalog/index.js';
import { dashboardPermissions } from '../../infrastructure/auth/index.js';
import { menuEntries } from '../../infrastructure/pages/index.js';

export const MERCHANT_ACCOUNT_PERMISSIONS = dashboardPermissions({
  listMerchantAccounts: {},
});

menuEntries({
  label: 'Merchant accounts',
  icon: 'credit-card',
  path: 'merchant-accounts',
  permission: MERCHANT_ACCOUNT_PERMISSIONS.listMerchantAccounts,
  tabOf: 'customers',
  place: 210,
});

const ACCOUNT_EVENTS = webhookEvents({
  ACCOUNT_LOGIN_REQUIRED: {
    variant: 'userAndMerchant',
    description:
      'The account is disconnected: the user must log in to the merchant again. Start a session for this.',
    data: z.object({}).describe(WITHOUT_DATA),
    example: {},
  },
  NEW_TRANSACTIONS_AVAILABLE: {
    variant: 'userAndMerchant',
    description: 'The user has new transactions at the merchant.',
    data: z.object({}).describe(WITHOUT_DATA),
    example: {},
  },
});
type AccountEvents = typeof ACCOUNT_EVENTS;

declare module '../../infrastructure/event-catalog/index.js' {
  interface WebhookEvents extends AccountEvents {}
}
