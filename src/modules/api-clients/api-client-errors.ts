import { ErrorKind } from '../../infrastructure/errors/index.js';

export const API_CLIENT_NOT_FOUND = new ErrorKind(404, 'INVALID_REQUEST', 'NOT_FOUND', {
  when: 'The organization has no API client with this `client_id`.',
  message: 'There is no API client with this client_id.',
});
