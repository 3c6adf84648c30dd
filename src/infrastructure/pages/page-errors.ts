import { ErrorKind } from '../errors/index.js';

export const INVALID_FORM_TOKEN = new ErrorKind({
  status: 403,
  type: 'INVALID_REQUEST',
  code: 'NO_ACCESS',
  when: 'A form of a page is out of date or came from another site.',
  message: 'This form is out of date. Go back, reload the page and try again.',
});
