import { ErrorKind } from '../../infrastructure/errors/index.js';

export const REQUEST_LOG_NOT_FOUND = new ErrorKind(404, 'REQUEST_LOG_ERROR', 'REQUEST_LOG_NOT_FOUND', {
  when:
    'The request log entry does not exist or no longer exists, belongs to another organization, or does not belong to ' +
    'the environment of the access token.',
  message: 'There is no request log entry with this ID.',
});

export const REQUEST_LOG_QUERY_TIMEOUT = new ErrorKind(
  504,
  'REQUEST_LOG_ERROR',
  'REQUEST_LOG_QUERY_TIMEOUT',
  {
    when: 'The query exceeded its time limit. For a list, narrow the period or the filters.',
    message:
      'The query took too long. Shorten the period between start and end, or filter by session, task, user, event or status code.',
  },
);
