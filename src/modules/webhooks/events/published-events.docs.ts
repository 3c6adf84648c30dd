import {
  uuidParameter,
  withMessages,
  type OperationDocument,
} from '../../../infrastructure/openapi/index.js';
import { ENTRY_QUERY_TIMEOUT_MESSAGE, REQUEST_LOG_QUERY_TIMEOUT } from '../../request-logs/index.js';
import { EventStatusResponse } from './published-events.dto.js';
import { EVENT_NOT_FOUND } from './published-events.service.js';

export const GET_EVENT: OperationDocument = {
  operationId: 'getEvent',
  summary: 'Get the status of an event',
  description:
    'Returns an event of any client, with its deliveries. Use it to find out whether the endpoints have received an ' +
    'event that you published. Events are kept as long as the request log.',
  pathParameters: {
    id: uuidParameter(
      'EventIdParameter',
      'The `event_id` of the event.',
      '0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1',
    ),
  },
  response: EventStatusResponse,
  responseDescription: 'The event. It has no deliveries if no endpoint was subscribed to it.',
  errors: [EVENT_NOT_FOUND, withMessages(REQUEST_LOG_QUERY_TIMEOUT, ENTRY_QUERY_TIMEOUT_MESSAGE)],
};
