import { ErrorKind } from '../errors/index.js';

export const INVALID_CURSOR_FORMAT = new ErrorKind(400, 'INVALID_REQUEST', 'INVALID_CURSOR_FORMAT', {
  when: 'The cursor is malformed or altered, or belongs to another client, environment or set of filters.',
  message: 'The cursor is not valid. Send the next_cursor of the previous response with the same parameters.',
});
