import { ENVIRONMENT_MISMATCH } from '../../../infrastructure/errors/index.js';
import { withMessages, type OperationDocument } from '../../../infrastructure/openapi/index.js';
import { INVALID_CURSOR_FORMAT } from '../../../infrastructure/crypto/index.js';
import {
  ENTRY_QUERY_TIMEOUT_MESSAGE,
  REQUEST_LOG_NOT_FOUND,
  REQUEST_LOG_QUERY_TIMEOUT,
} from '../request-log-errors.js';
import {
  EXAMPLE_ENTRY,
  EXAMPLE_PAGE,
  RequestLogListResponse,
  SingleRequestLogEntryResponse,
} from './request-logs.dto.js';

export const LIST_REQUEST_LOGS: OperationDocument = {
  operationId: 'listRequestLogs',
  summary: 'List request logs',
  description:
    'Returns the API requests and the webhook delivery attempts of an environment as one list, newest first. Use it ' +
    'to see what your program sent and how your endpoints responded. Entries must match all given filters; `event` ' +
    'with `type=request` matches nothing. Credentials, headers and the bodies of requests are not stored.\n\nTo get the following ' +
    'pages, send the `next_cursor` of each page until it is null. Entries added in the meantime do not shift the ' +
    'pages, and no entry is listed twice. Under load, a new entry can take about a second to appear: to get all ' +
    'entries, for example for an archive, request a period that ended at least a minute ago.',
  response: RequestLogListResponse,
  responseDescription: 'A page of the request log.',
  responseExample: EXAMPLE_PAGE,
  errors: [INVALID_CURSOR_FORMAT, ENVIRONMENT_MISMATCH, REQUEST_LOG_QUERY_TIMEOUT],
};

export const GET_REQUEST_LOG: OperationDocument = {
  operationId: 'getRequestLog',
  summary: 'Get a request log entry',
  description:
    'Returns one entry. For a delivery attempt, the entry also has the number of the attempt, the durations of its phases, ' +
    'and the beginning of your endpoint’s response if it was not 200. Use it to find out why a delivery failed. Entries of the other ' +
    'environment are not found.',
  pathParameters: {
    id: {
      component: 'RequestLogEntryIdParameter',
      schema: 'int64',
      description: 'The `id` of the entry.',
      example: 8_001_234,
    },
  },
  response: SingleRequestLogEntryResponse,
  responseDescription: 'The entry.',
  responseExample: EXAMPLE_ENTRY,
  errors: [REQUEST_LOG_NOT_FOUND, withMessages(REQUEST_LOG_QUERY_TIMEOUT, ENTRY_QUERY_TIMEOUT_MESSAGE)],
};
