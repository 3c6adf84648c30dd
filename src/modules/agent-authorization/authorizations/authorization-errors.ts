import { ErrorKind } from '../../../infrastructure/errors/index.js';

export const AUTHORIZATION_NOT_FOUND = new ErrorKind(404, 'INVALID_REQUEST', 'NOT_FOUND', {
  when: 'The client has no authorization with this ID.',
  message: 'There is no authorization with this ID.',
});

export const AUTHORIZATION_CLOSED = new ErrorKind(409, 'USER_ERROR', 'NO_ACCESS', {
  when: 'The authorization has been completed before, was declined or has ended, or is older than 10 minutes.',
  message: 'The authorization cannot be completed any more. The user has to start again in the agent.',
});
