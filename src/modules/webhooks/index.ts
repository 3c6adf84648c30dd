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
export { EventResponse } from './event-response.dto.js';
export { contentHash, IDEMPOTENCY_KEY_REUSED, IdempotencyKeyField } from './idempotency-key.js';
export { TaskIdsRepository } from './events/task-ids.repository.js';
export { WebhookEventsRepository } from './events/webhook-events.repository.js';
export { secretVersionsOf } from './queue/delivery-queue.repository.js';
export { EventSigner, type SignableEvent } from './signing/event-signer.js';
export type { PublishRequest } from './webhook-publisher.js';
export { LISTENERS_CHANNEL, type PublishResult } from './queue/publications.repository.js';
export { WebhookPublisher } from './webhook-publisher.js';
export { webhookDocuments } from './webhooks.document.js';
export { DeliveryWorkerModule, WebhooksModule } from './webhooks.module.js';
