import { Injectable } from '@nestjs/common';
import { Transactional } from '../../../infrastructure/database/index.js';
import type { AnyEvent, EventName, EventOf } from '../../../infrastructure/event-catalog/index.js';
import type { AttributedClient } from '../../../infrastructure/http/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { SpanKind, Tracing } from '../../../infrastructure/tracing/index.js';
import { ApiClientDirectory } from '../../api-clients/index.js';
import type { OwnedWebhookEndpoint } from '../../webhook-endpoints/index.js';
import { newEvent } from '../events/event-body.js';
import { exampleEvent } from '../events/event-document.js';
import { WebhookEventsRepository } from '../events/webhook-events.repository.js';
import type { ClaimedDelivery } from '../delivery.js';
import { DeliveryQueueRepository } from '../queue/delivery-queue.repository.js';
import {
  PublicationsBatch,
  type Idempotency,
  type Publication,
  type PublishResult,
  type RequiredSession,
} from '../queue/publications.batch.js';

export interface PublishRequest {
  readonly client: AttributedClient;
  readonly event: AnyEvent;
  /** Milliseconds since the Unix epoch; the default is the time of the publication. */
  readonly timestamp?: number | undefined;
  /** A client's events with the same key and content are published once. The same key with other content is a conflict. */
  readonly idempotency?: Idempotency | undefined;
  /** Whether the session of the event must exist, and gives the event its metadata. By default, the session is not looked up. */
  readonly session?: RequiredSession | undefined;
}

/** Publishes events to the endpoints of a client. */
@Injectable()
export class WebhookPublisher {
  constructor(
    private readonly clients: ApiClientDirectory,
    private readonly publications: PublicationsBatch,
    private readonly events: WebhookEventsRepository,
    private readonly queue: DeliveryQueueRepository,
    private readonly clock: Clock,
    private readonly tracing: Tracing,
  ) {}

  /**
   * Stores the event and its deliveries in the open transaction: they are sent if and only if it commits. Without an open
   * transaction, events that are published at the same time share a statement.
   *
   * @returns the event's id, which receivers get as `webhook-id`
   */
  async publish<Name extends EventName>(
    client: AttributedClient,
    event: EventOf<Name>,
    timestamp?: number,
  ): Promise<string> {
    const publications = await this.publicationsOf([{ client, event: event as AnyEvent, timestamp }]);
    const { id } = (publications[0] as Publication).event;
    const attributes = { 'messaging.message.id': id, 'mcs.client_id': client.clientId };
    const options = () => ({ kind: SpanKind.PRODUCER, attributes });
    const [result] = await this.tracing.inSpan(`publish ${event.event}`, options, () =>
      this.publications.publish(publications),
    );
    if (result?.outcome === 'failed') throw result.error;
    return id;
  }

  /**
   * Publishes many events, as `publish()` does. Without an open transaction, an event that cannot be stored does not
   * prevent the others.
   *
   * @returns one result for each request, in order
   * @throws Error if a client does not exist; nothing is stored then
   */
  async publishAll(requests: readonly PublishRequest[]): Promise<readonly PublishResult[]> {
    const publications = await this.publicationsOf(requests);
    const attributes = { 'messaging.batch.message_count': requests.length };
    const options = () => ({ kind: SpanKind.PRODUCER, attributes });
    return this.tracing.inSpan('publish events', options, () => this.publications.publish(publications));
  }

  /** Stores an example event for one endpoint. The caller makes the only attempt to deliver it. */
  @Transactional()
  async publishTest(endpoint: OwnedWebhookEndpoint, name: EventName): Promise<ClaimedDelivery> {
    const { clientId, environment } = endpoint.client;
    const event = newEvent({ clientId, environment }, exampleEvent(name), this.clock.now());
    await this.events.addTest(event);
    return this.queue.addClaimed(event, endpoint);
  }

  private async publicationsOf(requests: readonly PublishRequest[]): Promise<Publication[]> {
    const organizations = await this.clients.organizationsOf(requests.map(({ client }) => client.clientId));
    return requests.map(({ client, event, timestamp, idempotency, session }) => {
      const organizationId = organizations.get(client.clientId);
      if (organizationId === undefined) throw new Error(`There is no client ${client.clientId}`);
      const occurredAt = timestamp === undefined ? undefined : new Date(timestamp);
      const stored = newEvent(client, event, this.clock.now(), occurredAt);
      return { event: stored, organizationId, idempotency, session };
    });
  }
}
