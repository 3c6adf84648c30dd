import {
  bodyTooLarge,
  INVALID_FIELD,
  PAYLOAD_TOO_LARGE,
  UNSUPPORTED_MEDIA_TYPE,
} from '../../infrastructure/errors/index.js';
import { NEITHER_JSON_NOR_LINES } from '../../infrastructure/http/index.js';
import { IDEMPOTENCY_KEY_REUSED } from '../../infrastructure/idempotency/index.js';
import { withMessages, type OperationDocument } from '../../infrastructure/openapi/index.js';
import { API_CLIENT_NOT_FOUND } from '../api-clients/index.js';
import { MERCHANT_NOT_FOUND } from '../merchants/index.js';
import { SESSION_NOT_FOUND } from '../sessions/index.js';
import { EVENT_IN_FUTURE, EVENT_KEY_PARAMETER, EVENT_VARIANTS, EventResponse } from '../webhooks/index.js';
import {
  EventResultsResponse,
  MAX_BATCH_BYTES,
  MAX_EVENTS,
  PublishEventRequest,
  PublishEventsRequest,
} from './events.dto.js';
import { NO_KEY_FOR_BATCH } from './events.service.js';

export const PUBLISH_EVENT: OperationDocument = {
  operationId: 'publishEvent',
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
