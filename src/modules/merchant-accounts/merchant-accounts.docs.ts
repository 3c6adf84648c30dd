import type { OperationDocument } from '../../infrastructure/openapi/index.js';
import { INVALID_CURSOR_FORMAT } from '../../infrastructure/crypto/index.js';
import { ENVIRONMENT_ERRORS } from '../../infrastructure/surfaces/index.js';
import { MerchantAccountPage } from './merchant-accounts.dto.js';

/** The topic of all operations for merchant accounts, including that of the module merchant-gateway. */
export const MERCHANT_ACCOUNTS_TOPIC = [
  'Merchant accounts',
  'Accounts of your users at merchants: whether they are connected, and since when.',
] as const;

export const LIST_MERCHANT_ACCOUNTS: OperationDocument = {
  operationId: 'listMerchantAccounts',
  summary: 'List merchant accounts',
  description:
    'Returns the accounts at merchants that one of your users has signed in to. Use it to find out where the user must ' +
    'sign in again.',
  response: MerchantAccountPage,
  responseDescription: 'A page of the user’s accounts.',
  errors: [INVALID_CURSOR_FORMAT, ...ENVIRONMENT_ERRORS],
};
