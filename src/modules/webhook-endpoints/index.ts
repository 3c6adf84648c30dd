export { EndpointLanes, type EndpointHealth } from './endpoint-lanes.js';
export {
  AttemptResult,
  endpointPath,
  EndpointPipe,
  EndpointStatus,
  type EndpointVisit,
} from './pages/endpoint-parts.pages.js';
export {
  ENDPOINT_ID_PARAMETER,
  WEBHOOK_ENDPOINT_DISABLED,
  WEBHOOK_ENDPOINT_NOT_FOUND,
  type WebhookEndpointResponse,
} from './webhook-endpoints.dto.js';
export { WebhookEndpointsModule } from './webhook-endpoints.module.js';
export { WebhookEndpointsRepository } from './webhook-endpoints.repository.js';
export { WebhookEndpointsService, type OwnedWebhookEndpoint } from './webhook-endpoints.service.js';
