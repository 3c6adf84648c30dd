import { ArrayMaxSize, ArrayNotEmpty, IsArray } from 'class-validator';
import {
  bodyTooLarge,
  INVALID_FIELD,
  PAYLOAD_TOO_LARGE,
  UNSUPPORTED_MEDIA_TYPE,
} from '../../infrastructure/errors/index.js';
import { NEITHER_JSON_NOR_LINES } from '../../infrastructure/http/index.js';
import { IDEMPOTENCY_KEY_REUSED } from '../../infrastructure/idempotency/index.js';
import {
  BooleanProperty,
  ErrorResponse,
  ObjectProperty,
  UuidProperty,
  withMessages,
  type OperationDocument,
} from '../../infrastructure/openapi/index.js';
import {
  EnumField,
  ExternalUserIdField,
  Field,
  IntegerField,
  MESSAGES,
  ObjectField,
  UuidField,
  withMessage,
} from '../../infrastructure/validation/index.js';
import { EVENT_NAME, MetadataField, type EventName } from '../../infrastructure/event-catalog/index.js';
import { API_CLIENT_NOT_FOUND } from '../api-clients/index.js';
import { MERCHANT_NOT_FOUND, MerchantIdField } from '../merchants/index.js';
import { SESSION_NOT_FOUND } from '../sessions/index.js';
import {
  EVENT_IN_FUTURE,
  EVENT_KEY_PARAMETER,
  EVENT_VARIANTS,
  EventResponse,
  EventTimestampField,
  IdempotencyKeyField,
} from '../webhooks/index.js';

export const MAX_EVENTS = 1_000;
/** About 4 KiB for each event. */
export const MAX_BATCH_BYTES = 4_194_304;
/** As for a request with one event. */
export const MAX_EVENT_BYTES = 524_288;

const EXAMPLE_EVENT = {
  client_id: '3f6c2a10-5a0e-4f5c-9a5c-6f0e8d7b1c2d',
  event: 'CARD_UPDATED',
  external_user_id: 'user-8f3a',
  session_id: 'fb5aa994-ed1c-4c3e-b29a-b2a53222e584',
  task_id: 25_605,
  merchant_id: 16,
  data: { card_id: '81n9al10a0ayn13' },
  idempotency_key: 'task-25605-card-updated',
};

export class PublishEventRequest {
  @UuidField({
    description: 'The API client whose endpoints receive the event.',
    example: EXAMPLE_EVENT.client_id,
  })
  client_id!: string;

  @EnumField(EVENT_NAME, { description: 'The event.', example: EXAMPLE_EVENT.event })
  event!: EventName;

  @ExternalUserIdField({ required: false })
  external_user_id?: string;

  @UuidField({
    required: false,
    description: 'A session of the client and the user. The event contains its metadata.',
    example: EXAMPLE_EVENT.session_id,
  })
  session_id?: string;

  @IntegerField({
    required: false,
    min: 1,
    max: Number.MAX_SAFE_INTEGER,
    description: 'The task of the session.',
    example: EXAMPLE_EVENT.task_id,
  })
  task_id?: number;

  @MerchantIdField({ required: false })
  merchant_id?: number;

  @ObjectField({
    required: false,
    members: { additionalProperties: true },
    description: 'The fields of `data` that the event requires. Unknown fields are ignored.',
    example: EXAMPLE_EVENT.data,
  })
  data?: Readonly<Record<string, unknown>>;

  @MetadataField('Replaces the metadata of the session. An empty object means none.')
  metadata?: Readonly<Record<string, string>>;

  @EventTimestampField()
  timestamp?: number;

  @IdempotencyKeyField(EXAMPLE_EVENT.idempotency_key)
  idempotency_key?: string;
}

export class PublishEventsRequest {
  @Field(
    {
      schema: {
        type: 'array',
        items: { $ref: '#/components/schemas/PublishEventRequest' },
        minItems: 1,
        maxItems: MAX_EVENTS,
      },
      description: `1 to ${MAX_EVENTS} events of at most ${MAX_EVENT_BYTES} bytes each.`,
      example: [EXAMPLE_EVENT],
    },
    IsArray(withMessage(MESSAGES.array)),
    ArrayNotEmpty(withMessage(MESSAGES.required)),
    ArrayMaxSize(MAX_EVENTS, withMessage(MESSAGES.maxItems, MAX_EVENTS)),
  )
  events!: unknown[];
}

export class EventResult {
  @UuidProperty(
    'ID of the event: its `webhook-id` header; null if it was not published.',
    '0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1',
    { nullable: true },
  )
  event_id!: string | null;

  @BooleanProperty(
    'Whether the event had been published before with this key. Then `event_id` is its ID.',
    false,
  )
  duplicate!: boolean;

  @ObjectProperty(ErrorResponse, 'Why the event was not published; null if it was.', { example: null })
  error!: ErrorResponse | null;
}

export class EventResultsResponse {
  @ObjectProperty([EventResult], 'One result for each event, in the same order.')
  results!: EventResult[];
}

export const NO_KEY_FOR_BATCH =
  'A batch has no Idempotency-Key header. Send an idempotency key with each event.';

export const PUBLISH_EVENT: OperationDocument = {
  operationId: 'publishEvent',
  repeatable: 'with_idempotency_key',
  ifRepeated: 'With an `idempotency_key`, nothing changes. Without one, the event is published again.',
  summary: 'Publish an event',
  description:
    'Publishes an event to all endpoints of a client. Use it to notify clients when something happens in another ' +
    'service of the platform. The response is sent after the commit. To make retries safe, send an `idempotency_key` or ' +
    'the header `Idempotency-Key`: an event with the same key and the same content is published only once.',
  headerParameters: EVENT_KEY_PARAMETER,
  body: PublishEventRequest,
  bodyVariants: EVENT_VARIANTS,
  response: EventResponse,
  responseDescription: 'The event is published, or had been published before with this `idempotency_key`.',
  errors: [
    withMessages(
      INVALID_FIELD,
      'The session id field is required when the event is CARD_UPDATED.',
      'The task id field must not be present when the event is MERCHANT_STATUS_UPDATE.',
      'The data.card id field is required.',
      EVENT_IN_FUTURE,
    ),
    API_CLIENT_NOT_FOUND,
    SESSION_NOT_FOUND,
    MERCHANT_NOT_FOUND,
    IDEMPOTENCY_KEY_REUSED,
  ],
};

export const PUBLISH_EVENTS: OperationDocument = {
  operationId: 'publishEvents',
  repeatable: 'with_idempotency_key',
  ifRepeated:
    'With an `idempotency_key` for each event, nothing changes. Without one, the event is published again.',
  summary: 'Publish a batch of events',
  description:
    `Publishes up to ${MAX_EVENTS} events of any clients, as JSON or as NDJSON with one event on each line. Use it ` +
    'when you have many events: a batch costs much less than the same events one by one. The response has one result ' +
    'for each event, in the same order. Invalid events get an error, and all others are published. The response is ' +
    'sent after the commit.\n\nInstead of JSON, you can send NDJSON: the media type `application/x-ndjson` (or `application/ndjson`, `application/jsonl` or `application/x-jsonlines`), and on each line ' +
    'an object like those of `events`.',
  body: PublishEventsRequest,
  response: EventResultsResponse,
  responseDescription: 'The valid events are published.',
  errors: [
    withMessages(INVALID_FIELD, NO_KEY_FOR_BATCH),
    withMessages(PAYLOAD_TOO_LARGE, bodyTooLarge(MAX_BATCH_BYTES)),
    withMessages(UNSUPPORTED_MEDIA_TYPE, NEITHER_JSON_NOR_LINES),
  ],
};
