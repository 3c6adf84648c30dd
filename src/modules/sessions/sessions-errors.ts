import { ErrorKind } from '../../infrastructure/errors/index.js';

export const SESSION_NOT_FOUND = new ErrorKind(404, 'SESSION_ERROR', 'SESSION_NOT_FOUND', {
  when: 'The session does not exist or belongs to another client. Opening a session that has expired returns this error, too.',
  message: 'There is no session with this ID.',
});

export const EXTEND_NOT_SUPPORTED = new ErrorKind(400, 'SESSION_ERROR', 'EXTEND_NOT_SUPPORTED', {
  when: 'The session has expired and can no longer be extended.',
  message: 'The session has expired. Create a new one.',
});
