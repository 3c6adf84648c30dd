import { ErrorKind } from '../errors/index.js';

export const INVALID_API_KEYS = new ErrorKind(401, 'INVALID_INPUT', 'INVALID_API_KEYS', {
  when: 'The Basic credentials are missing, malformed, unknown or wrong.',
  message: 'Invalid client_id or secret provided.',
});
