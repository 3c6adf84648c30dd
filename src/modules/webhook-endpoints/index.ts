export { EventNames } from './event-names.js';
export { WEBHOOK_ENDPOINT_DISABLED, WEBHOOK_ENDPOINT_NOT_FOUND } from './webhook-endpoint-errors.js';
export { MAX_DESCRIPTION_LENGTH, MAX_ENDPOINTS } from './webhook-endpoint-limits.js';
export {
  CreateWebhookEndpointRequest,
  UpdateWebhookEndpointRequest,
  type WebhookEndpointResponse,
} from './webhook-endpoints.dto.js';
export { WebhookEndpointsModule } from './webhook-endpoints.module.js';
export type { WebhookTarget } from './webhook-endpoints.repository.js';
export { WebhookEndpointsService, type OwnedWebhookEndpoint } from './webhook-endpoints.service.js';
