export {
  EndpointDeliveries,
  MAX_COUNTED,
  type DeliveryAttempt,
  type EndpointActivity,
} from './endpoint-deliveries.js';
export { AttemptResult, endpointPath } from './endpoint-parts.pages.js';
export { EventNames } from './event-names.js';
export { WEBHOOK_ENDPOINT_DISABLED, WEBHOOK_ENDPOINT_NOT_FOUND } from './webhook-endpoint-errors.js';
export type { WebhookEndpointResponse } from './webhook-endpoints.dto.js';
export { WebhookEndpointsModule } from './webhook-endpoints.module.js';
export type { WebhookTarget } from './webhook-endpoints.repository.js';
export { WebhookEndpointsService, type OwnedWebhookEndpoint } from './webhook-endpoints.service.js';
