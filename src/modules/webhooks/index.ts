export type { WebhookEndpointResponse } from './endpoints/webhook-endpoints.dto.js';
export { WebhookEndpointsService } from './endpoints/webhook-endpoints.service.js';
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
} from './events/event-catalog.js';
export { EVENT_IN_FUTURE, EventTimestampField, requireEventTime } from './events/event-time.js';
export { EVENT_VARIANTS, eventSchema, exampleEvent, examplePayload } from './events/event-document.js';
export {
  mergeMetadata,
  MetadataField,
  validateMetadataSize,
  type SessionMetadata,
} from './events/session-metadata.js';
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
export { EndpointStatus } from './pages/endpoint-parts.pages.js';
export { WebhookEventsRepository } from './events/webhook-events.repository.js';
export { WebhookPublisher, type PublishRequest } from './webhook-publisher.js';
export { webhookDocuments } from './webhooks.document.js';
export { DeliveryWorkerModule, WebhooksModule } from './webhooks.module.js';
