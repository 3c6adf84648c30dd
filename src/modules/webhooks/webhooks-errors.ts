import { ErrorKind } from '../../infrastructure/errors/index.js';

declare module '../../infrastructure/errors/index.js' {
  interface ErrorCodes {
    EVENT_CURSOR_EXPIRED: never;
  }
}

export const EVENT_NOT_FOUND = new ErrorKind(404, 'INVALID_REQUEST', 'NOT_FOUND', {
  label: 'EventNotFound',
  when: 'There is no event with this ID, or it is older than the request log.',
  message: 'There is no event with this ID. Events are kept as long as the request log.',
});

export const EVENT_CURSOR_EXPIRED = new ErrorKind(410, 'INVALID_REQUEST', 'EVENT_CURSOR_EXPIRED', {
  when: 'The cursor of the event feed is older than the events that are kept. The body has an `oldest_cursor`.',
  message:
    'The cursor is older than the events that are kept, so events are missing. Continue with the oldest_cursor of this response.',
});
