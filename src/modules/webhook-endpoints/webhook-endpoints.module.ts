import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiClientsModule } from '../api-clients/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { EventNamesConstraint, WebhookUrlConstraint } from './webhook-endpoint.constraints.js';
import { WebhookEndpoint } from './webhook-endpoint.entity.js';
import { WebhookEndpointsPagesController } from './webhook-endpoints-pages.controller.js';
import { WebhookEndpointsPagesService } from './webhook-endpoints-pages.service.js';
import { WebhookEndpointsController } from './webhook-endpoints.controller.js';
import { WebhookEndpointsRepository } from './webhook-endpoints.repository.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([WebhookEndpoint]), ApiClientsModule, AuditLogsModule],
  controllers: [WebhookEndpointsController, WebhookEndpointsPagesController],
  providers: [
    WebhookEndpointsService,
    WebhookEndpointsPagesService,
    WebhookEndpointsRepository,
    EventNamesConstraint,
    WebhookUrlConstraint,
  ],
  exports: [WebhookEndpointsService],
})
export class WebhookEndpointsModule {}
