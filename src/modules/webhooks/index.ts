export type { WebhookEndpointResponse } from './endpoints/webhook-endpoints.dto.js';
export { WebhookEndpointsService } from './endpoints/webhook-endpoints.service.js';
export {
  EVENT_NAME,
  EVENT_NAMES,
  EVENTS,
  MERCHANT_SESSION_TYPES,
  MERCHANT_STATUS,
  MERCHANT_STATUSES,
  SESSION_TYPE,
  type AnyEvent,
  type EventName,
  type EventOf,
} from './events/event-catalog.js';
export { eventSchema, exampleEvent, examplePayload } from './events/event-document.js';
export { ENVELOPES, type EventMerchant } from './events/event-envelope.js';
export { MetadataField, validateMetadataSize, type SessionMetadata } from './events/session-metadata.js';
export {
  contentHash,
  EventResponse,
  IDEMPOTENCY_KEY_REUSED,
  IdempotencyKeyField,
} from './idempotency-key.js';
export { TaskIdsRepository } from './events/task-ids.repository.js';
export { WebhookEventsRepository } from './events/webhook-events.repository.js';
export type { PublishRequest } from './webhook-publisher.js';
export type { PublishResult } from './queue/publications.batch.js';
export { WebhookPublisher } from './webhook-publisher.js';
export { webhookDocuments } from './webhooks.document.js';
export { DeliveryWorkerModule, WebhooksModule } from './webhooks.module.js';
