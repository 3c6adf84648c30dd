import { Module } from '@nestjs/common';
import { ApiClientsModule } from '../api-clients/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { RequestLogsModule } from '../request-logs/index.js';
import { WebhookEndpointsModule } from '../webhook-endpoints/index.js';
import { DeliveriesController } from './deliveries/deliveries.controller.js';
import { DeliveriesService } from './deliveries/deliveries.service.js';
import { AttemptMetrics } from './engine/attempt.metrics.js';
import { Attempts } from './engine/attempts.js';
import { DeliveryEngine } from './engine/delivery-engine.js';
import { DeliveryQueue } from './engine/delivery-queue.js';
import { DeliveryQueueRepository } from './engine/delivery-queue.repository.js';
import { LaneCalls } from './engine/lane-calls.js';
import { QueueOverviewRepository } from './engine/queue-overview.repository.js';
import { QueueMetrics } from './engine/queue.metrics.js';
import { WebhookEventsRepository } from './engine/webhook-events.repository.js';
import { WebhookEventsRotation } from './engine/webhook-events.rotation.js';
import { WebhookPublisherService } from './engine/webhook-publisher.service.js';
import { WebhookPublisher } from './webhook-publisher.js';

/** For whoever has something to tell: `WebhookPublisher`. */
@Module({
  imports: [ApiClientsModule, RequestLogsModule, WebhookEndpointsModule],
  providers: [
    WebhookPublisherService,
    { provide: WebhookPublisher, useExisting: WebhookPublisherService },
    DeliveryQueueRepository,
    DeliveryQueue,
    WebhookEventsRepository,
    WebhookEventsRotation,
    LaneCalls,
    AttemptMetrics,
    Attempts,
  ],
  exports: [
    WebhookPublisher,
    WebhookPublisherService,
    WebhookEventsRepository,
    DeliveryQueue,
    DeliveryQueueRepository,
    LaneCalls,
    Attempts,
  ],
})
export class WebhooksModule {}

/** What people do about deliveries, apart: only where the dashboard API is served. */
@Module({
  imports: [WebhooksModule, WebhookEndpointsModule, AuditLogsModule],
  controllers: [DeliveriesController],
  providers: [DeliveriesService],
})
export class WebhookDeliveryOperationsModule {}

/** The engine, apart: only in processes that do the background work. */
@Module({ imports: [WebhooksModule], providers: [DeliveryEngine, QueueOverviewRepository, QueueMetrics] })
export class WebhookEngineModule {}
