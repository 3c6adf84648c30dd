import { Injectable } from '@nestjs/common';
import { Transactional } from '../../infrastructure/database/index.js';
import type { AttributedClient } from '../../infrastructure/http/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { SpanKind, Tracing } from '../../infrastructure/tracing/index.js';
import { WebhookEndpointsService, type OwnedWebhookEndpoint } from '../webhook-endpoints/index.js';
import type { EventName, EventOf } from './events/event-catalog.js';
import { exampleEvent } from './events/event-document.js';
import { newEvent } from './events/new-event.js';
import { WebhookEventsRepository } from './events/webhook-events.repository.js';
import { BulkPublisher, type PublishRequest, type PublishResult } from './publishing/bulk-publisher.js';
import type { ClaimedDelivery } from './queue/delivery.js';
import { DeliveryQueueService } from './queue/delivery-queue.service.js';

/** Publishes events to the endpoints of a client. */
@Injectable()
export class WebhookPublisher {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly events: WebhookEventsRepository,
    private readonly queue: DeliveryQueueService,
    private readonly bulk: BulkPublisher,
    private readonly clock: Clock,
    private readonly tracing: Tracing,
  ) {}

  /**
   * Stores the event and its deliveries in the caller's transaction: they are sent if and only if it commits.
   *
   * @returns the event's id, which receivers get as `webhook-id`
   */
  @Transactional()
  async publish<Name extends EventName>(client: AttributedClient, event: EventOf<Name>): Promise<string> {
    const stored = newEvent(client, event, this.clock.now());
    const attributes = { 'messaging.message.id': stored.id, 'mcs.client_id': client.clientId };
    const options = () => ({ kind: SpanKind.PRODUCER, attributes });
    await this.tracing.inSpan(`publish ${event.event}`, options, async () => {
      await this.events.add(stored);
      const endpoints = await this.endpoints.ofClient(client.clientId);
      if (endpoints.length > 0) await this.queue.add(stored, endpoints);
    });
    return stored.id;
  }

  /**
   * Publishes many events, which the open transaction commits together. Without one, they are committed when this
   * resolves.
   *
   * @returns one result for each request, in order
   */
  async publishAll(requests: readonly PublishRequest[]): Promise<readonly PublishResult[]> {
    const attributes = { 'messaging.batch.message_count': requests.length };
    const options = () => ({ kind: SpanKind.PRODUCER, attributes });
    return this.tracing.inSpan('publish events', options, () => this.bulk.publishAll(requests));
  }

  /** Stores an example event for one endpoint. The caller makes the only attempt to deliver it. */
  @Transactional()
  async publishTest(endpoint: OwnedWebhookEndpoint, name: EventName): Promise<ClaimedDelivery> {
    const { clientId, environment } = endpoint.client;
    const event = {
      ...newEvent({ clientId, environment }, exampleEvent(name), this.clock.now()),
      isTest: true,
    };
    await this.events.add(event);
    return this.queue.addClaimed(event, endpoint);
  }
}
