import { Module } from '@nestjs/common';
import { SecretVersions } from '../../infrastructure/issued-tokens/index.js';
import { ApiClientsModule } from '../api-clients/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { RequestLogsModule } from '../request-logs/index.js';
import { EndpointPage } from './pages/endpoint.pages.js';
import { ENDPOINT_PAGES } from './pages/endpoints.pages.js';
import { ENDPOINT_SIGNING_PAGES } from './pages/endpoint-signing.pages.js';
import { EndpointKeys } from './endpoint-keys.js';
import { EndpointSigningService } from './endpoint-signing.service.js';
import { WebhookUrlConstraint } from './webhook-endpoints.dto.js';
import { WebhookEndpointsController } from './webhook-endpoints.controller.js';
import { WebhookEndpointsRepository } from './webhook-endpoints.repository.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';
import './webhook-endpoints.capability.js';

/** Operation 7: the endpoints that a client's webhooks go to, their status and health. */
@Module({
  imports: [ApiClientsModule, AuditLogsModule, RequestLogsModule],
  controllers: [WebhookEndpointsController, EndpointPage, ...ENDPOINT_PAGES, ...ENDPOINT_SIGNING_PAGES],
  providers: [
    WebhookEndpointsService,
    WebhookEndpointsRepository,
    EndpointKeys,
    SecretVersions,
    EndpointSigningService,
    WebhookUrlConstraint,
  ],
  exports: [WebhookEndpointsService, WebhookEndpointsRepository, EndpointKeys],
})
export class WebhookEndpointsModule {}
