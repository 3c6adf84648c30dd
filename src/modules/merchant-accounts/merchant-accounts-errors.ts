import { ErrorKind } from '../../infrastructure/errors/index.js';

export const MERCHANT_ACCOUNT_NOT_FOUND = new ErrorKind(
  404,
  'MERCHANT_ACCOUNT_ERROR',
  'MERCHANT_ACCOUNT_NOT_FOUND',
  {
    when: 'The user has never signed in to this merchant.',
    message: 'The user has no account at this merchant.',
  },
);
export const MERCHANT_ACCOUNT_DISCONNECTED = new ErrorKind(
  409,
  'MERCHANT_ACCOUNT_ERROR',
  'MERCHANT_ACCOUNT_DISCONNECTED',
  {
    when: 'The account is disconnected: the user must sign in to the merchant again first.',
    message: 'The account at this merchant is disconnected.',
  },
);
