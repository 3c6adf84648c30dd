export { RecentDeliveries } from './deliveries/recent-deliveries.js';
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
} from './events/event-catalog.js';
export { eventSchema, exampleEvent, examplePayload } from './events/event-document.js';
export {
  ENVELOPES,
  SESSION_METADATA,
  type EventMerchant,
  type SessionMetadata,
} from './events/event-envelope.js';
export { TaskIdsRepository } from './events/task-ids.repository.js';
export { WebhookEventsRepository } from './events/webhook-events.repository.js';
export { secretVersionsOf } from './queue/delivery-queue.repository.js';
export { EventSigner, type SignableEvent } from './signing/event-signer.js';
export type { PublishRequest } from './webhook-publisher.js';
export { LISTENERS_CHANNEL, type PublishResult } from './queue/publications.repository.js';
export { WebhookPublisher } from './webhook-publisher.js';
export { webhookDocuments } from './webhooks.document.js';
export { DeliveryWorkerModule, WebhooksModule } from './webhooks.module.js';
