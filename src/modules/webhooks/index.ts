export {
  EVENT_IN_FUTURE,
  EventTimestampField,
  requireEventTime,
  contentHash,
  EVENT_KEY_PARAMETER,
  EventResponse,
  eventResponseOf,
  IdempotencyKeyField,
  withIdempotencyKey,
} from './events/publication.dto.js';
export { EVENT_VARIANTS, eventSchema, exampleEvent, examplePayload } from './events/event-document.js';
export type { ListedEvent } from './events/published-events.repository.js';
export { PublishedEventsService } from './events/published-events.service.js';
export { WebhookEventsRepository } from './events/webhook-events.repository.js';
export { LanesRepository } from './queue/lanes.repository.js';
export { WebhookPublisher, type PublishRequest } from './publishing/webhook-publisher.js';
export { webhookDocuments } from './webhooks.document.js';
export { DeliveryWorkerModule, WebhooksModule } from './webhooks.module.js';
