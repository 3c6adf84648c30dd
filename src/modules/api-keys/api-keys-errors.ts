import { ErrorKind } from '../../infrastructure/errors/index.js';

export const API_KEY_NOT_FOUND = new ErrorKind(404, 'INVALID_REQUEST', 'NOT_FOUND', {
  when: 'There is no API key with this ID, or it belongs to another organization.',
  message: 'There is no API key with this ID.',
});
