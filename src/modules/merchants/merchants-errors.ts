import { ErrorKind } from '../../infrastructure/errors/index.js';

export const MERCHANT_NOT_FOUND = new ErrorKind(404, 'INVALID_REQUEST', 'NOT_FOUND', {
  label: 'MerchantNotFound',
  when: 'There is no merchant with this id.',
  message: 'There is no merchant with this id.',
});
