export { EndpointKeys, KeyUnavailable } from './endpoint-keys.js';
export type { MessageSigner } from './signing-key.js';
export { EndpointLanes, type EndpointHealth } from './endpoint-lanes.js';
export {
  AttemptResult,
  endpointPath,
  EndpointPipe,
  EndpointStatus,
  pageOfEndpoint,
  type EndpointVisit,
} from './pages/endpoint-parts.pages.js';
export { ENDPOINT_ID_PARAMETER, type WebhookEndpointResponse } from './webhook-endpoints.dto.js';
export { WebhookEndpointsModule } from './webhook-endpoints.module.js';
export { WebhookEndpointsRepository } from './webhook-endpoints.repository.js';
export { WebhookEndpointsService, type OwnedWebhookEndpoint } from './webhook-endpoints.service.js';
export { CHANGE_ENDPOINTS, ENDPOINT_PERMISSIONS, READ_ENDPOINTS } from './webhook-endpoints.capability.js';
export { WEBHOOK_ENDPOINT_DISABLED, WEBHOOK_ENDPOINT_NOT_FOUND } from './webhook-endpoints-errors.js';
