import { ErrorKind } from '../../infrastructure/errors/index.js';

export const ERASURE_NOT_FOUND = new ErrorKind(404, 'INVALID_REQUEST', 'NOT_FOUND', {
  label: 'ErasureNotFound',
  when: 'No erasure of the user was requested, or it was finished more than a year ago.',
  message: 'There is no erasure of a user with this ID.',
});
