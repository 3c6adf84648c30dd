import { EVENT_NAME, type EventName } from '../../infrastructure/event-catalog/index.js';
import {
  BooleanProperty,
  EnumProperty,
  IntegerProperty,
  TextProperty,
  TimestampProperty,
  UuidProperty,
  withMessages,
  type OperationDocument,
} from '../../infrastructure/openapi/index.js';
import { enumeration } from '../../infrastructure/schemas/index.js';
import {
  EnumField,
  MESSAGES,
  messageAbout,
  TextField,
  TimestampField,
} from '../../infrastructure/validation/index.js';
import { FAILURE_REASONS, type FailureReason } from './delivery.js';
import { ENVIRONMENT_MISMATCH, INVALID_FIELD, type FieldProblem } from '../../infrastructure/errors/index.js';
import {
  WEBHOOK_ENDPOINT_DISABLED,
  WEBHOOK_ENDPOINT_NOT_FOUND,
  ENDPOINT_ID_PARAMETER,
} from '../webhook-endpoints/index.js';

export const FAILURE_REASON = enumeration(
  'FailureReason',
  FAILURE_REASONS,
  'Why a delivery attempt failed. `NON_200`: the endpoint responded with a status other than 200. `INTERRUPTED`: the ' +
    'service’s process ended during the attempt. `KEY_UNAVAILABLE`: the service could not read the key of the endpoint, ' +
    'and sent nothing. All other values say why there was no response. More may be added.',
);

const EXAMPLE_EVENT_ID = 'c1a8d2b4-6f0e-4f43-9b1d-2f6f0a1f9c55';

export class TestWebhookEndpointRequest {
  @EnumField(EVENT_NAME, {
    required: false,
    default: 'AUTHENTICATED',
    description: 'The kind of event to send. Its fields are those of the example.',
    example: 'AUTHENTICATED',
  })
  event: EventName = 'AUTHENTICATED';
}

export class TestedWebhookEndpointResponse {
  @UuidProperty('ID of the event: its `webhook-id` header.', EXAMPLE_EVENT_ID)
  event_id!: string;

  @BooleanProperty('Whether the event counts as received: the endpoint responded with 200 in time.', false)
  received!: boolean;

  @IntegerProperty('Status code of the endpoint’s response; 0 if there was no response.', 204, {
    minimum: 0,
    maximum: 599,
  })
  status_code!: number;

  @EnumProperty(FAILURE_REASON, 'Why the event does not count as received; null if it does.', 'NON_200', {
    nullable: true,
  })
  reason!: FailureReason | null;

  @TextProperty(
    'The result in words. The wording may change.',
    'The endpoint responded with 204. Only 200 counts: a real event would be sent twice more.',
  )
  message!: string;

  @IntegerProperty('Duration of the attempt in milliseconds.', 84, { minimum: 0 })
  latency_ms!: number;
}

export class RedeliverRequest {
  @TextField({
    min: 0,
    format: 'uuid',
    description: 'ID of the event: the `webhook-id` header of its deliveries.',
    example: EXAMPLE_EVENT_ID,
  })
  event_id!: string;
}

export class QueuedDeliveriesResponse {
  @IntegerProperty('Number of deliveries that are sent now; 0 if the event is being sent already.', 1, {
    minimum: 0,
    maximum: 1,
  })
  queued!: number;
}

const RECOVERY_STATUSES = ['none', 'running', 'finished'] as const;
const RECOVERY_STATUS = enumeration('RecoveryStatus', RECOVERY_STATUSES, 'How far a recovery is.');

export class RecoverRequest {
  @TimestampField({
    description: 'Start of the period. A time before the oldest entry of the request log counts as that.',
    example: '2026-01-31T08:00:00Z',
  })
  since!: string;
}

export class RecoveryResponse {
  @EnumProperty(
    RECOVERY_STATUS,
    'Whether the recovery is running or finished; `none` if there has not been one.',
    'running',
  )
  status!: (typeof RECOVERY_STATUSES)[number];

  @TimestampProperty('Start of the period.', '2026-01-31T08:00:00.000Z', { nullable: true })
  since!: Date | null;

  @IntegerProperty('Number of deliveries that the recovery has added to the queue.', 118, { minimum: 0 })
  queued!: number;

  @TimestampProperty('When the recovery was requested.', undefined, { nullable: true })
  requested_at!: Date | null;

  @TimestampProperty('When the recovery finished; null while it is running.', null)
  finished_at!: Date | null;
}

export const UNKNOWN_EVENT: FieldProblem = { field: 'event_id', rule: MESSAGES.unknown };
/** @param name of the event */
export function notSubscribed(name: string): FieldProblem {
  const rule = (field: string): string =>
    `The selected ${field} is invalid: the endpoint is not subscribed to ${name}.`;
  return { field: 'event_id', rule };
}
export const RESEND_RUNNING =
  'Selected deliveries to this endpoint are being sent again. Try again when that has finished.';

export const TEST_ENDPOINT: OperationDocument = {
  operationId: 'testWebhookEndpoint',
  repeatable: 'always',
  ifRepeated: 'Your endpoint receives another test event.',
  summary: 'Test a webhook endpoint',
  description:
    'Sends an example event to the endpoint, signed like every event, and returns the result. Use it after you set up ' +
    'an endpoint, and when deliveries fail. The event is sent once, regardless of the response and of the status and ' +
    'events of the endpoint, and appears in the request log. The operation takes up to 10 seconds. If three tests of your ' +
    'organization are running, a further one waits for up to 10 seconds more, and is then refused.',
  pathParameters: ENDPOINT_ID_PARAMETER,
  body: TestWebhookEndpointRequest,
  response: TestedWebhookEndpointResponse,
  responseDescription: 'The event was sent. `received` tells whether it counts as received.',
  errors: [ENVIRONMENT_MISMATCH, WEBHOOK_ENDPOINT_NOT_FOUND],
};

export const REDELIVER_EVENT: OperationDocument = {
  operationId: 'redeliverWebhook',
  repeatable: 'always',
  ifRepeated:
    'An event that waits for a retry is sent now, with one more attempt. One that is being sent is not affected. ' +
    'Any other is sent again, with the same `webhook-id`.',
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
    withMessages(INVALID_FIELD, messageAbout(UNKNOWN_EVENT), messageAbout(notSubscribed('CARD_UPDATED'))),
    ENVIRONMENT_MISMATCH,
    WEBHOOK_ENDPOINT_NOT_FOUND,
    WEBHOOK_ENDPOINT_DISABLED,
  ],
};

export const RECOVER_EVENTS: OperationDocument = {
  operationId: 'recoverWebhooks',
  repeatable: 'always',
  ifRepeated: 'While a recovery is running, you get its state. After that, a new one begins.',
  summary: 'Recover missed events',
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
