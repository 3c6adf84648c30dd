export {
  conditionalFieldsOf,
  detectedMerchantIds,
  EVENT_NAME,
  EVENT_NAMES,
  EVENTS,
  MERCHANT_SESSION_TYPES,
  MERCHANT_STATUS,
  MERCHANT_STATUSES,
  SESSION_TYPE,
  SIGN_IN_FAILURE,
  validateData,
  type AnyEvent,
  type EventMerchant,
  type EventName,
  type SessionType,
} from '../../infrastructure/event-catalog/index.js';
export { EVENT_IN_FUTURE, EventTimestampField, requireEventTime } from './events/event-time.js';
export { EVENT_VARIANTS, eventSchema, exampleEvent, examplePayload } from './events/event-document.js';
export {
  mergeMetadata,
  MetadataField,
  validateMetadataSize,
  type SessionMetadata,
} from '../../infrastructure/event-catalog/index.js';
export {
  contentHash,
  EVENT_KEY_PARAMETER,
  EventResponse,
  eventResponseOf,
  IdempotencyKeyField,
  withIdempotencyKey,
} from './idempotency-key.js';
export { standardSignature } from './signing/delivery-headers.js';
export { PublishedEventsService } from './events/published-events.service.js';
export { WebhookEventsRepository } from './events/webhook-events.repository.js';
export { LanesRepository } from './queue/lanes.repository.js';
export { WebhookPublisher, type PublishRequest } from './webhook-publisher.js';
export { webhookDocuments } from './webhooks.document.js';
export { DeliveryWorkerModule, WebhooksModule } from './webhooks.module.js';
