import { ErrorKind } from '../../infrastructure/errors/index.js';

export const MERCHANT_NOT_FOUND = new ErrorKind({
  status: 404,
  type: 'INVALID_REQUEST',
  code: 'NOT_FOUND',
  when: 'There is no merchant with this id.',
  message: 'There is no merchant with this id.',
});
