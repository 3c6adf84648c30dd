export { maskedUrl } from './endpoint-url.js';
export { WebhookEndpointOperationsModule, WebhookEndpointsModule } from './webhook-endpoints.module.js';
export { WebhookEndpoints, type OwnedWebhookEndpoint } from './webhook-endpoints.service.js';
export type { WebhookTarget } from './webhook-endpoints.repository.js';
