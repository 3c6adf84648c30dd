import { ErrorKind } from '../../infrastructure/errors/index.js';

export const ACCESS_GRANT_NOT_FOUND = new ErrorKind(404, 'INVALID_REQUEST', 'NOT_FOUND', {
  when: 'The organization has no access grant with this ID.',
  message: 'There is no access grant with this ID.',
});

export const USER_NOT_FOUND = new ErrorKind(404, 'USER_ERROR', 'USER_NOT_FOUND', {
  when: 'The organization has no user with this ID.',
  message: 'There is no user with this ID.',
});
