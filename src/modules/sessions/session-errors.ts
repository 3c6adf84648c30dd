import { ErrorKind } from '../../infrastructure/errors/index.js';

export const SESSION_NOT_FOUND = new ErrorKind({
  status: 404,
  type: 'SESSION_ERROR',
  code: 'SESSION_NOT_FOUND',
  when: 'There is no session with this id, or it belongs to another client; to open one, it must not have expired.',
  message: 'There is no session with this id.',
});

export const EXTEND_NOT_SUPPORTED = new ErrorKind({
  status: 400,
  type: 'SESSION_ERROR',
  code: 'EXTEND_NOT_SUPPORTED',
  when: 'The session has expired, and cannot be extended any more.',
  message: 'The session has expired. Create a new one.',
});
