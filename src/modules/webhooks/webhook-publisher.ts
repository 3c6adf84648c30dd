import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Transaction, Transactional } from '../../infrastructure/database/index.js';
import type { AttributedClient } from '../../infrastructure/http/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { SpanKind, Tracing } from '../../infrastructure/tracing/index.js';
import { ApiClientDirectory } from '../api-clients/index.js';
import type { OwnedWebhookEndpoint } from '../webhook-endpoints/index.js';
import { eventBody } from './events/event-body.js';
import type { EventName, EventOf } from './events/event-catalog.js';
import { exampleEvent } from './events/event-document.js';
import { WebhookEventsRepository, type NewEvent } from './events/webhook-events.repository.js';
import type { ClaimedDelivery } from './queue/delivery.js';
import { DeliveryQueueService } from './queue/delivery-queue.service.js';
import { PublicationsBatch } from './queue/publications.batch.js';
import { PublicationsRepository } from './queue/publications.repository.js';
import { WebhookDeliveriesConfiguration } from './webhook-deliveries.configuration.js';

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
    private readonly clients: ApiClientDirectory,
    private readonly publications: PublicationsRepository,
    private readonly batch: PublicationsBatch,
    private readonly events: WebhookEventsRepository,
    private readonly queue: DeliveryQueueService,
    private readonly configuration: WebhookDeliveriesConfiguration,
    private readonly transaction: Transaction,
    private readonly clock: Clock,
    private readonly tracing: Tracing,
  ) {}

  /**
   * Stores the event and its deliveries in the open transaction: they are sent if and only if it commits. Without an open
   * transaction, events that are published at the same time share a statement.
   *
   * @returns the event's id, which receivers get as `webhook-id`
   */
  async publish<Name extends EventName>(client: AttributedClient, event: EventOf<Name>): Promise<string> {
    const stored = this.newEvent(client, event);
    const attributes = { 'messaging.message.id': stored.id, 'mcs.client_id': client.clientId };
    const options = () => ({ kind: SpanKind.PRODUCER, attributes });
    await this.tracing.inSpan(`publish ${event.event}`, options, () => this.store(stored));
    return stored.id;
  }

  private async store(event: NewEvent): Promise<void> {
    const publication = { event, organizationId: await this.organizationOf(event) };
    if (this.transaction.isOpen)
      await this.publications.publish([publication], this.configuration.attemptsAllowed);
    else await this.batch.add(publication);
  }

  private async organizationOf({ clientId }: NewEvent): Promise<string> {
    const client = await this.clients.find(clientId);
    if (!client) throw new Error(`There is no client ${clientId}`);
    return client.organizationId;
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
