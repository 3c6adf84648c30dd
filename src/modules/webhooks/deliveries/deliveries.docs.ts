import { ENVIRONMENT_MISMATCH, INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import { withMessages, type OperationDocument } from '../../../infrastructure/openapi/index.js';
import {
  WEBHOOK_ENDPOINT_DISABLED,
  WEBHOOK_ENDPOINT_NOT_FOUND,
  ENDPOINT_ID_PARAMETER,
} from '../../webhook-endpoints/index.js';
import { notSubscribed, RESEND_RUNNING, UNKNOWN_EVENT } from '../resends/resends.service.js';
import {
  QueuedDeliveriesResponse,
  RecoverRequest,
  RecoveryResponse,
  RedeliverRequest,
  TestedWebhookEndpointResponse,
  TestWebhookEndpointRequest,
} from './deliveries.dto.js';

export const TEST_ENDPOINT: OperationDocument = {
  operationId: 'testWebhookEndpoint',
  summary: 'Test a webhook endpoint',
  description:
    'Sends an example event to the endpoint, signed like every event, and returns the result. Use it after you set up ' +
    'an endpoint, and when deliveries fail. The event is sent once, regardless of the response and of the status and ' +
    'events of the endpoint, and appears in the request log. The operation takes up to 10 seconds.',
  pathParameters: ENDPOINT_ID_PARAMETER,
  body: TestWebhookEndpointRequest,
  response: TestedWebhookEndpointResponse,
  responseDescription: 'The event was sent. `received` tells whether it counts as received.',
  errors: [ENVIRONMENT_MISMATCH, WEBHOOK_ENDPOINT_NOT_FOUND],
};

export const REDELIVER_EVENT: OperationDocument = {
  operationId: 'redeliverWebhook',
  summary: 'Send an event again',
  description:
    'Sends an event to the current URL of the endpoint once more, with retries, whether or not it was received before. ' +
    'Use it if your receiver lost an event. An event that waits for a retry is sent now, as one more attempt: if that fails, ' +
    'the retries go on. An event that is being sent gets no further attempt: `queued` is 0. Events are retained as long as the request log. The endpoint must be subscribed to the ' +
    'event. If it is paused, the event waits.',
  pathParameters: ENDPOINT_ID_PARAMETER,
  body: RedeliverRequest,
  response: QueuedDeliveriesResponse,
  responseDescription: 'The event is sent, or is being sent already.',
  errors: [
    withMessages(INVALID_FIELD, UNKNOWN_EVENT, notSubscribed('CARD_UPDATED')),
    ENVIRONMENT_MISMATCH,
    WEBHOOK_ENDPOINT_NOT_FOUND,
    WEBHOOK_ENDPOINT_DISABLED,
  ],
};

export const RECOVER_EVENTS: OperationDocument = {
  operationId: 'recoverWebhooks',
  summary: 'Send all failed events again',
  description:
    'Sends every event again that the endpoint has not received since a given time: events whose last attempt failed, ' +
    'and events that it missed while it was disabled. Events that it is not subscribed to are left out. Use it after an ' +
    'outage of your receiver. The service does this in the background. An endpoint has one recovery at a time: while one ' +
    'is running, the response describes that one. Events with pending retries are skipped, so you can safely repeat the ' +
    'request.',
  pathParameters: ENDPOINT_ID_PARAMETER,
  body: RecoverRequest,
  response: RecoveryResponse,
  status: 202,
  responseDescription: 'The recovery is running.',
  responseExample: { queued: 0 },
  errors: [
    withMessages(INVALID_FIELD, RESEND_RUNNING),
    ENVIRONMENT_MISMATCH,
    WEBHOOK_ENDPOINT_NOT_FOUND,
    WEBHOOK_ENDPOINT_DISABLED,
  ],
};

export const GET_RECOVERY: OperationDocument = {
  operationId: 'getWebhookRecovery',
  summary: 'Get the last recovery of a webhook endpoint',
  description:
    'Returns how far the last recovery has come. Use it after you requested one, until it is finished.',
  pathParameters: ENDPOINT_ID_PARAMETER,
  response: RecoveryResponse,
  responseDescription: 'The last recovery.',
  responseExample: { status: 'finished', finished_at: '2026-01-31T08:15:31.500Z' },
  errors: [ENVIRONMENT_MISMATCH, WEBHOOK_ENDPOINT_NOT_FOUND],
};
