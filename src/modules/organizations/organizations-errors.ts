import { ErrorKind } from '../../infrastructure/errors/index.js';

export const LOGO_NOT_FOUND = new ErrorKind(404, 'INVALID_REQUEST', 'NOT_FOUND', {
  when: 'The organization has no logo.',
  message: 'The organization has no logo.',
});
