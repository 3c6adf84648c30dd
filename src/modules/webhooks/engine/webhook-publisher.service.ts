import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Transaction, Transactional } from '../../../infrastructure/database/index.js';
import type { AttributedClient } from '../../../infrastructure/http/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { SpanKind, Tracing } from '../../../infrastructure/tracing/index.js';
import { WebhookEndpointsService } from '../../webhook-endpoints/index.js';
import { eventBody } from '../events/event-body.js';
import type { EventName, EventOf } from '../events/event-catalogue.js';
import { WebhookPublisher } from '../webhook-publisher.js';
import { DeliveryQueueRepository } from './delivery-queue.repository.js';
import { LaneCalls } from './lane-calls.js';
import { WebhookDeliveriesConfiguration } from './webhook-deliveries.configuration.js';
import { WebhookEventsRepository, type NewEvent } from './webhook-events.repository.js';

/** Whom an event is about; what its variant does not have is undefined. */
interface About {
  readonly sessionId?: string;
  readonly taskId?: number;
  readonly externalUserId?: string;
}

/** Keeps an event and its deliveries in the caller's transaction. */
@Injectable()
export class WebhookPublisherService extends WebhookPublisher {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly events: WebhookEventsRepository,
    private readonly queue: DeliveryQueueRepository,
    private readonly lanes: LaneCalls,
    private readonly transaction: Transaction,
    private readonly configuration: WebhookDeliveriesConfiguration,
    private readonly clock: Clock,
    private readonly tracing: Tracing,
  ) {
    super();
  }

  @Transactional()
  async publish<Name extends EventName>(client: AttributedClient, event: EventOf<Name>): Promise<string> {
    const kept = this.newEvent(client, event);
    const attributes = { 'messaging.message.id': kept.id, 'mcs.client_id': client.clientId };
    const options = () => ({ kind: SpanKind.PRODUCER, attributes });
    await this.tracing.inSpan(`publish ${event.event}`, options, () => this.keep(kept));
    return kept.id;
  }

  private async keep(event: NewEvent): Promise<void> {
    await this.events.add(event);
    const endpoints = await this.endpoints.ofClient(event.clientId);
    if (endpoints.length === 0) return;
    await this.queue.add(event, endpoints, 1 + this.configuration.retryDelays.length);
    this.transaction.afterCommit(() => this.lanes.call(endpoints.map(({ id }) => id)));
  }

  /** An event that was not kept yet. */
  newEvent<Name extends EventName>(client: AttributedClient, event: EventOf<Name>): NewEvent {
    const createdAt = this.clock.now();
    const {
      sessionId = null,
      taskId = null,
      externalUserId = null,
    }: Partial<Nullable<About>> = event as About;
    return {
      ...client,
      id: randomUUID(),
      createdAt,
      name: event.event,
      sessionId,
      taskId,
      externalUserId,
      body: eventBody(event, createdAt.getTime()),
      isTest: false,
    };
  }
}

type Nullable<T> = { readonly [Key in keyof T]: T[Key] | null };
