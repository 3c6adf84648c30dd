import { ErrorKind } from '../../infrastructure/errors/index.js';

export const LOGO_NOT_FOUND = new ErrorKind({
  status: 404,
  type: 'INVALID_REQUEST',
  code: 'NOT_FOUND',
  when: 'The organization has no logo.',
  message: 'The organization has no logo.',
});
