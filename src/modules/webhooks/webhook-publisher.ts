import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Transactional } from '../../infrastructure/database/index.js';
import type { AttributedClient } from '../../infrastructure/http/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { SpanKind, Tracing } from '../../infrastructure/tracing/index.js';
import { WebhookEndpointsService, type OwnedWebhookEndpoint } from '../webhook-endpoints/index.js';
import { eventBody } from './events/event-body.js';
import type { EventName, EventOf } from './events/event-catalog.js';
import { exampleEvent } from './events/event-document.js';
import { WebhookEventsRepository, type NewEvent } from './events/webhook-events.repository.js';
import type { ClaimedDelivery } from './queue/delivery.js';
import { DeliveryQueueService } from './queue/delivery-queue.service.js';

/** Fields that only some events have. */
interface Subject {
  readonly sessionId?: string;
  readonly taskId?: number;
  readonly externalUserId?: string;
}

/** Publishes events to the endpoints of a client. */
@Injectable()
export class WebhookPublisher {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly events: WebhookEventsRepository,
    private readonly queue: DeliveryQueueService,
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
    const stored = this.newEvent(client, event);
    const attributes = { 'messaging.message.id': stored.id, 'mcs.client_id': client.clientId };
    const options = () => ({ kind: SpanKind.PRODUCER, attributes });
    await this.tracing.inSpan(`publish ${event.event}`, options, async () => {
      await this.events.add(stored);
      const endpoints = await this.endpoints.ofClient(client.clientId);
      if (endpoints.length > 0) await this.queue.add(stored, endpoints);
    });
    return stored.id;
  }

  /** Stores an example event for one endpoint. The caller makes the only attempt to deliver it. */
  @Transactional()
  async publishTest(endpoint: OwnedWebhookEndpoint, name: EventName): Promise<ClaimedDelivery> {
    const { clientId, environment } = endpoint.client;
    const event = { ...this.newEvent({ clientId, environment }, exampleEvent(name)), isTest: true };
    await this.events.add(event);
    return this.queue.addClaimed(event, endpoint);
  }

  private newEvent<Name extends EventName>(client: AttributedClient, event: EventOf<Name>): NewEvent {
    const createdAt = this.clock.now();
    const { sessionId, taskId, externalUserId } = event as Subject;
    return {
      ...client,
      id: randomUUID(),
      createdAt,
      name: event.event,
      sessionId: sessionId ?? null,
      taskId: taskId ?? null,
      externalUserId: externalUserId ?? null,
      body: eventBody(event, createdAt.getTime()),
      isTest: false,
    };
  }
}
