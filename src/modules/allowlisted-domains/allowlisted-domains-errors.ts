import { ErrorKind } from '../../infrastructure/errors/index.js';

export const ALLOWLISTED_DOMAIN_NOT_FOUND = new ErrorKind(404, 'INVALID_REQUEST', 'NOT_FOUND', {
  when: 'The organization has no allowed domain with this ID.',
  message: 'There is no allowed domain with this ID.',
});
