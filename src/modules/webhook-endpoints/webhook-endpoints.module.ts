import { Module } from '@nestjs/common';
import { ApiClientsModule } from '../api-clients/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { RequestLogsModule } from '../request-logs/index.js';
import { EndpointPageController } from './pages/endpoint.pages.js';
import { ENDPOINT_PAGES } from './pages/endpoints.pages.js';
import { WebhookUrlConstraint } from './webhook-endpoints.dto.js';
import { WebhookEndpointsController } from './webhook-endpoints.controller.js';
import { WebhookEndpointsRepository } from './webhook-endpoints.repository.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';

@Module({
  imports: [ApiClientsModule, AuditLogsModule, RequestLogsModule],
  controllers: [WebhookEndpointsController, EndpointPageController, ...ENDPOINT_PAGES],
  providers: [WebhookEndpointsService, WebhookEndpointsRepository, WebhookUrlConstraint],
  exports: [WebhookEndpointsService, WebhookEndpointsRepository],
})
export class WebhookEndpointsModule {}
