export { EndpointLanes, type EndpointHealth } from './endpoint-lanes.js';
export { AttemptResult, endpointPath, EndpointStatus } from './pages/endpoint-parts.pages.js';
export { EndpointPipe, type EndpointVisit } from './pages/endpoint.pipe.js';
export { WEBHOOK_ENDPOINT_DISABLED, WEBHOOK_ENDPOINT_NOT_FOUND } from './webhook-endpoints.dto.js';
export { ENDPOINT_ID_PARAMETER, type WebhookEndpointResponse } from './webhook-endpoints.dto.js';
export { WebhookEndpointsModule } from './webhook-endpoints.module.js';
export { WebhookEndpointsRepository } from './webhook-endpoints.repository.js';
export { WebhookEndpointsService, type OwnedWebhookEndpoint } from './webhook-endpoints.service.js';
