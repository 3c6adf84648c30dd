import { ErrorKind } from '../../infrastructure/errors/index.js';

export const REQUEST_LOG_NOT_FOUND = new ErrorKind({
  status: 404,
  type: 'REQUEST_LOG_ERROR',
  code: 'REQUEST_LOG_NOT_FOUND',
  when:
    'There is no request log entry with this id (any more), or it belongs to another organization or, where an ' +
    'access token asks, to the other environment.',
  message: 'There is no request log entry with this id.',
});

export const REQUEST_LOG_QUERY_TIMEOUT = new ErrorKind({
  status: 504,
  type: 'REQUEST_LOG_ERROR',
  code: 'REQUEST_LOG_QUERY_TIMEOUT',
  when: 'Too many entries had to be looked at to find those that were asked for.',
  message:
    'The query took too long. Ask for a shorter time between start and end, or name a session, task, user, event or status code.',
});
