import { ErrorKind } from '../../infrastructure/errors/index.js';

export const LOGO_NOT_FOUND = new ErrorKind({
  status: 404,
  type: 'INVALID_REQUEST',
  code: 'NOT_FOUND',
  when: 'The account has no logo.',
  message: 'The account has no logo.',
});
