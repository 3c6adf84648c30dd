import { ErrorKind } from '../../infrastructure/errors/index.js';

export const API_CLIENT_NOT_FOUND = new ErrorKind(404, 'INVALID_REQUEST', 'NOT_FOUND', {
  when: 'There is no API client with this `client_id`, or it belongs to another organization.',
  message: 'There is no API client with this client_id.',
});
