import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiClientsModule } from '../api-clients/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { WebhookEndpoint } from './webhook-endpoint.entity.js';
import { WebhookEndpointsController } from './webhook-endpoints.controller.js';
import { WebhookEndpointsRepository } from './webhook-endpoints.repository.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';

/** Endpoints, for modules that send webhooks. */
@Module({
  imports: [TypeOrmModule.forFeature([WebhookEndpoint]), ApiClientsModule, AuditLogsModule],
  providers: [WebhookEndpointsService, WebhookEndpointsRepository],
  exports: [WebhookEndpointsService],
})
export class WebhookEndpointsModule {}

/** Operations on endpoints, only where the dashboard API is served. */
@Module({ imports: [WebhookEndpointsModule, AuditLogsModule], controllers: [WebhookEndpointsController] })
export class WebhookEndpointOperationsModule {}
