import { type PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { EVENT_NAME, type EventName } from '../../../infrastructure/event-catalog/index.js';
import {
  EnumProperty,
  IntegerProperty,
  ObjectProperty,
  TextProperty,
  TimestampProperty,
  UuidProperty,
  uuidParameter,
  withMessages,
  type OperationDocument,
} from '../../../infrastructure/openapi/index.js';
import { CursorField } from '../../../infrastructure/paging/index.js';
import { enumeration } from '../../../infrastructure/schemas/index.js';
import {
  ENVIRONMENT,
  EnumField,
  ExternalUserIdField,
  TimestampField,
} from '../../../infrastructure/validation/index.js';
import { FAILURE_REASON } from '../deliveries.dto.js';
import { ENTRY_QUERY_TIMEOUT_MESSAGE, REQUEST_LOG_QUERY_TIMEOUT } from '../../request-logs/index.js';
import { EVENT_NOT_FOUND } from '../webhooks-errors.js';

const FILTER = { in: 'form', required: false } as const;

/** Outcomes by which the list of events can be filtered. */
const DELIVERY_OUTCOME = enumeration(
  'DeliveryOutcome',
  ['failed', 'waiting', 'not_sent'] as const,
  'How a delivery ended, or that it has not: `not_sent` stands for events without one.',
);

export class ListEventsQuery {
  @EnumField(DELIVERY_OUTCOME, FILTER)
  outcome?: (typeof DELIVERY_OUTCOME.values)[number];

  @EnumField(EVENT_NAME, FILTER)
  event?: EventName;

  @ExternalUserIdField(FILTER)
  external_user_id?: string;

  @TimestampField(FILTER)
  start?: string;

  @TimestampField({ ...FILTER, notBefore: 'start' })
  end?: string;

  @CursorField('The position of the page.')
  cursor?: string;
}

const DELIVERY_STATES = ['waiting', 'in_progress', 'succeeded', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];
const DELIVERY_STATE = enumeration(
  'DeliveryState',
  DELIVERY_STATES,
  '`waiting`: for the first attempt or a retry. `in_progress`: an attempt has begun. `succeeded`: the endpoint responded ' +
    'with 200. `failed`: there are no further attempts.',
);
const NULLABLE = { nullable: true } as const;

export class EventDeliveryResponse {
  @UuidProperty(
    'ID of the endpoint, which may have been deleted since.',
    'b6a1f0de-2f7c-4c6e-9d1f-0e8a4c3b2d10',
  )
  endpoint_id!: string;

  @EnumProperty(DELIVERY_STATE, 'How far the delivery is.', 'waiting')
  state!: DeliveryState;

  @IntegerProperty('Number of attempts that have ended.', 1, { minimum: 0 })
  attempts!: number;

  @TimestampProperty('When the last attempt was made; null before it ends.', undefined, NULLABLE)
  last_attempt_at!: Date | null;

  @IntegerProperty('Status code of the last response; 0 if there was no response.', 503, NULLABLE)
  status_code!: number | null;

  @EnumProperty(FAILURE_REASON, 'Why the last attempt failed; null if it did not.', 'NON_200', NULLABLE)
  reason!: string | null;

  @TimestampProperty(
    'When the next attempt is due; null if none is waiting.',
    '2026-01-31T08:18:41.102Z',
    NULLABLE,
  )
  next_attempt_at!: Date | null;
}

export class EventStatusResponse {
  @UuidProperty('ID of the event: its `webhook-id` header.', '0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1')
  id!: string;

  @UuidProperty('The API client whose endpoints receive the event.', '3f6c2a10-5a0e-4f5c-9a5c-6f0e8d7b1c2d')
  client_id!: string;

  @EnumProperty(ENVIRONMENT, 'The environment of the client.', 'production')
  environment!: PlatformEnvironment;

  @EnumProperty(EVENT_NAME, 'The name of the event.', 'CARD_UPDATED')
  event!: string;

  @UuidProperty('The session; null if the event has none.', 'fb5aa994-ed1c-4c3e-b29a-b2a53222e584', NULLABLE)
  session_id!: string | null;

  @IntegerProperty('The task; null if the event has none.', 25_605, { ...NULLABLE, format: 'int64' })
  task_id!: number | null;

  @TextProperty('The user; null if the event has none.', 'user-8f3a', NULLABLE)
  external_user_id!: string | null;

  @TimestampProperty('When the event was published.')
  published_at!: Date;

  @ObjectProperty([EventDeliveryResponse], 'One delivery for each endpoint that the event is sent to.')
  deliveries!: EventDeliveryResponse[];
}

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
