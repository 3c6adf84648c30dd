export { EVENT_NAMES, EVENTS, type AnyEvent, type EventName } from './events/event-catalog.js';
export { eventSchema, exampleEvent, examplePayload } from './events/event-document.js';
export { SESSION_METADATA, type EventMerchant, type SessionMetadata } from './events/event-envelope.js';
export { WebhookPublisher } from './webhook-publisher.js';
export { webhookDocuments } from './webhooks.document.js';
export { DeliveryWorkerModule, WebhooksModule } from './webhooks.module.js';
