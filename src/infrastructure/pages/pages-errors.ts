import { ErrorKind } from '../errors/index.js';

export const INVALID_FORM_TOKEN = new ErrorKind(403, 'INVALID_REQUEST', 'NO_ACCESS', {
  when: 'The browser sent no cookies with the form, the form belongs to another login, or it came from another site.',
  message:
    'This form is out of date: you logged in or out, or deleted cookies, after the page was opened. Send it again.',
});
