import { EVENT_NAME, type EventName } from '../../../infrastructure/event-catalog/index.js';
import {
  BooleanProperty,
  EnumProperty,
  IntegerProperty,
  TextProperty,
  TimestampProperty,
  UuidProperty,
} from '../../../infrastructure/openapi/index.js';
import { enumeration } from '../../../infrastructure/schemas/index.js';
import { EnumField, TextField, TimestampField } from '../../../infrastructure/validation/index.js';
import { TRANSPORT_FAILURES } from '../../../infrastructure/http-client/index.js';
import type { FailureReason } from '../queue/delivery.js';

export const FAILURE_REASON = enumeration(
  'FailureReason',
  [...TRANSPORT_FAILURES, 'NON_200', 'INTERRUPTED'] satisfies readonly FailureReason[],
  'Why a delivery attempt failed. `NON_200`: the endpoint responded with another status than 200. `INTERRUPTED`: the ' +
    'service’s process ended during the attempt. All other values say why there was no response. More may be added.',
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

  @TimestampProperty('When the recovery finished; null while it is running.', null, { nullable: true })
  finished_at!: Date | null;
}
