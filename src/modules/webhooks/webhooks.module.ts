import { Module } from '@nestjs/common';
import { CredentialsCheck } from '../../infrastructure/auth/index.js';
import { ApiClientsModule } from '../api-clients/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { DashboardUsersModule } from '../dashboard-users/index.js';
import { RequestLogsModule } from '../request-logs/index.js';
import { WebhookEndpointsModule } from '../webhook-endpoints/index.js';
import { DeliveriesController } from './deliveries/deliveries.controller.js';
import { DeliveriesService } from './deliveries/deliveries.service.js';
import { PublishedEventsController } from './events/published-events.controller.js';
import { PublishedEventsRepository } from './events/published-events.repository.js';
import { PublishedEventsService } from './events/published-events.service.js';
import { WebhookEventsRepository } from './events/webhook-events.repository.js';
import { DisabledEndpointsJob } from './failing-endpoints/disabled-endpoints.job.js';
import { FailingEndpointEmails, FailingEndpointsJob } from './failing-endpoints/failing-endpoints.job.js';
import { FailingEndpointsRepository } from './failing-endpoints/failing-endpoints.repository.js';
import { DeliveryPage } from './pages/deliveries.pages.js';
import { EventsPage } from './pages/events.pages.js';
import { AttemptRecorder } from './queue/attempt-recorder.js';
import { DeliveryQueueRepository } from './queue/delivery-queue.repository.js';
import { DeliveryQueueService } from './queue/delivery-queue.service.js';
import { LanesRepository } from './queue/lanes.repository.js';
import { PublicationsBatch } from './queue/publications.batch.js';
import { QueueMetrics } from './queue/queue.metrics.js';
import { ResendsJob } from './resends/resends.job.js';
import { ResendsRepository } from './resends/resends.repository.js';
import { RedeliveriesService } from './resends/redeliveries.service.js';
import { ResendsService } from './resends/resends.service.js';
import { EventSigner } from './signing/event-signer.js';
import { DeliverySender } from './sender/delivery-sender.js';
import { EventFeedController } from './feed/event-feed.controller.js';
import { EventFeedRepository } from './feed/event-feed.repository.js';
import { EventFeedService } from './feed/event-feed.service.js';
import { EventHorizon } from './stream/event-horizon.js';
import { EventWatch } from './stream/event-watch.js';
import { WebhookStreamRepository } from './stream/webhook-stream.repository.js';
import { WebhookStreamController } from './stream/webhook-stream.controller.js';
import { WebhookStreamService } from './stream/webhook-stream.service.js';
import { WebhookPublisher } from './publishing/webhook-publisher.js';
import { StrandedDeliveriesJob } from './worker/stranded-deliveries.job.js';
import { DeliveryWorker } from './worker/delivery-worker.js';
import './webhooks.capability.js';

const PROVIDERS = [
  WebhookPublisher,
  WebhookEventsRepository,
  DeliveryQueueService,
  DeliveryQueueRepository,
  LanesRepository,
  PublicationsBatch,
  AttemptRecorder,
  EventSigner,
  DeliverySender,
  DeliveriesService,
  RedeliveriesService,
  ResendsService,
  ResendsRepository,
  WebhookStreamService,
  EventHorizon,
  EventWatch,
  WebhookStreamRepository,
  EventFeedService,
  EventFeedRepository,
  CredentialsCheck,
  PublishedEventsService,
  PublishedEventsRepository,
];

/** Events, signatures and deliveries, also sent again; the stream of webhooks for development machines. */
@Module({
  imports: [ApiClientsModule, RequestLogsModule, AuditLogsModule, WebhookEndpointsModule],
  controllers: [
    WebhookStreamController,
    EventFeedController,
    DeliveriesController,
    PublishedEventsController,
    DeliveryPage,
    EventsPage,
  ],
  providers: PROVIDERS,
  exports: PROVIDERS,
})
export class WebhooksModule {}

/** Claims and sends deliveries, only in processes that do background work. */
@Module({
  imports: [WebhooksModule, WebhookEndpointsModule, RequestLogsModule, AuditLogsModule, DashboardUsersModule],
  providers: [
    DeliveryWorker,
    StrandedDeliveriesJob,
    ResendsJob,
    DisabledEndpointsJob,
    FailingEndpointsJob,
    FailingEndpointsRepository,
    FailingEndpointEmails,
    QueueMetrics,
  ],
})
export class DeliveryWorkerModule {}
