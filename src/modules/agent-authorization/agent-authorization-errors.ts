import { ErrorKind } from '../../infrastructure/errors/index.js';

export const AUTHORIZATION_NOT_FOUND = new ErrorKind(404, 'INVALID_REQUEST', 'NOT_FOUND', {
  when: 'The client has no authorization with this ID.',
  message: 'There is no authorization with this ID.',
});

export const AUTHORIZATION_CLOSED = new ErrorKind(409, 'USER_ERROR', 'NO_ACCESS', {
  when: 'The authorization has been completed before with another user, the user has returned from the login, or it was declined or has ended, or is older than 10 minutes.',
  message: 'The authorization cannot be completed any more. The user has to start again.',
});

export const AGENT_NOT_FOUND = new ErrorKind(404, 'INVALID_REQUEST', 'NOT_FOUND', {
  when: 'Your organization has not registered an agent with this ID.',
  message: 'There is no registered agent with this ID.',
});

export const AGENT_CONNECTION_NOT_FOUND = new ErrorKind(404, 'INVALID_REQUEST', 'NOT_FOUND', {
  when: 'No agent is connected with this ID. The connection may have ended.',
  message: 'There is no agent connection with this ID.',
});
