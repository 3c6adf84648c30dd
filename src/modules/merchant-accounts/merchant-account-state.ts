import { enumeration } from '../../infrastructure/schemas/index.js';

const MERCHANT_ACCOUNT_STATES = ['connected', 'disconnected'] as const;
export type MerchantAccountState = (typeof MERCHANT_ACCOUNT_STATES)[number];

export const MERCHANT_ACCOUNT_STATE = enumeration(
  'MerchantAccountState',
  MERCHANT_ACCOUNT_STATES,
  '`connected`: the user has signed in. `disconnected`: the merchant requires the user to sign in again.',
);
