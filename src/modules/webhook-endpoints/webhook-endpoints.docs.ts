import { ENVIRONMENT_MISMATCH, INVALID_FIELD } from '../../infrastructure/errors/index.js';
import {
  IDEMPOTENCY_ERRORS,
  IDEMPOTENCY_KEY_PARAMETER,
  IDEMPOTENCY_REPLAYED_HEADER,
} from '../../infrastructure/idempotency/index.js';
import { uuidParameter, withMessages, type OperationDocument } from '../../infrastructure/openapi/index.js';
import {
  NOT_PUBLIC,
  WEBHOOK_ENDPOINT_ALREADY_EXISTS,
  WEBHOOK_ENDPOINT_LIMIT_REACHED,
  WEBHOOK_ENDPOINT_NOT_FOUND,
} from './webhook-endpoint-errors.js';
import { MAX_ENDPOINTS } from './webhook-endpoint.entity.js';
import {
  CreateWebhookEndpointRequest,
  EXAMPLE_ID,
  UpdateWebhookEndpointRequest,
  WebhookEndpointListResponse,
  WebhookEndpointResponse,
} from './webhook-endpoints.dto.js';

/** The path parameter of operations on one endpoint. */
export const ENDPOINT_ID_PARAMETER = {
  id: uuidParameter('WebhookEndpointIdParameter', 'The `id` of the endpoint.', EXAMPLE_ID),
};
const INVALID = withMessages(INVALID_FIELD, NOT_PUBLIC);

export const LIST_ENDPOINTS: OperationDocument = {
  operationId: 'listWebhookEndpoints',
  summary: 'List webhook endpoints',
  description:
    `Returns the webhook endpoints of an environment, at most ${MAX_ENDPOINTS}, in the order in which they were ` +
    'created. Use it to see where events are sent, and to find the IDs that other operations require.',
  response: WebhookEndpointListResponse,
  responseDescription: 'All endpoints of the environment.',
  errors: [ENVIRONMENT_MISMATCH],
};

export const GET_ENDPOINT: OperationDocument = {
  operationId: 'getWebhookEndpoint',
  summary: 'Get a webhook endpoint',
  description: 'Returns one endpoint. Use it if you stored the ID of the endpoint.',
  pathParameters: ENDPOINT_ID_PARAMETER,
  response: WebhookEndpointResponse,
  responseDescription: 'The endpoint.',
  errors: [ENVIRONMENT_MISMATCH, WEBHOOK_ENDPOINT_NOT_FOUND],
};

export const CREATE_ENDPOINT: OperationDocument = {
  operationId: 'createWebhookEndpoint',
  summary: 'Create webhook endpoint',
  description:
    'Starts to send the events of the environment to this URL. Use it when a receiver is ready to respond. An ' +
    `environment can have at most ${MAX_ENDPOINTS} endpoints with different URLs.`,
  headerParameters: IDEMPOTENCY_KEY_PARAMETER,
  responseHeaders: IDEMPOTENCY_REPLAYED_HEADER,
  body: CreateWebhookEndpointRequest,
  response: WebhookEndpointResponse,
  responseDescription: 'The endpoint was created.',
  errors: [
    INVALID,
    ENVIRONMENT_MISMATCH,
    WEBHOOK_ENDPOINT_ALREADY_EXISTS,
    WEBHOOK_ENDPOINT_LIMIT_REACHED,
    ...IDEMPOTENCY_ERRORS,
  ],
};

export const UPDATE_ENDPOINT: OperationDocument = {
  operationId: 'updateWebhookEndpoint',
  summary: 'Change a webhook endpoint',
  description:
    'Changes the fields that you send. Absent fields keep their values, and so do `url` and `status` if they are `null`. ' +
    'Use it when your receiver moves, to choose events, to pause and resume deliveries, and to enable an endpoint that ' +
    'the service has disabled. A new URL applies to all attempts from then on, also of events that wait for a retry, and the health starts again.',
  pathParameters: ENDPOINT_ID_PARAMETER,
  body: UpdateWebhookEndpointRequest,
  response: WebhookEndpointResponse,
  responseDescription: 'The updated endpoint.',
  errors: [INVALID, ENVIRONMENT_MISMATCH, WEBHOOK_ENDPOINT_NOT_FOUND, WEBHOOK_ENDPOINT_ALREADY_EXISTS],
};

export const DELETE_ENDPOINT: OperationDocument = {
  operationId: 'deleteWebhookEndpoint',
  summary: 'Delete a webhook endpoint',
  description:
    'Deletes an endpoint and its pending deliveries. Use it when you no longer operate the receiver.',
  pathParameters: ENDPOINT_ID_PARAMETER,
  response: WebhookEndpointResponse,
  responseDescription: 'The deleted endpoint.',
  errors: [ENVIRONMENT_MISMATCH, WEBHOOK_ENDPOINT_NOT_FOUND],
};
