import { Injectable, Logger } from '@nestjs/common';
import { BatchedStatement, Transaction, Transactional } from '../../../infrastructure/database/index.js';
import type { AttributedClient } from '../../../infrastructure/http/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import type { AnyEvent } from '../events/event-catalog.js';
import { newEvent } from '../events/new-event.js';
import type { NewEvent } from '../events/webhook-events.repository.js';
import { DeliveryQueueRepository } from '../queue/delivery-queue.repository.js';
import { DeliveryQueueService } from '../queue/delivery-queue.service.js';
import { BulkPublisherRepository, type EventKey } from './bulk-publisher.repository.js';

/** An event to be published for a client. */
export interface PublishRequest {
  readonly client: AttributedClient;
  readonly event: AnyEvent;
  /** With the same key and content, the event is published once per client. */
  readonly idempotency?: { readonly key: string; readonly contentHash: Buffer } | undefined;
}

/** `conflict`: the key was used for an event with different content. */
export type PublishResult =
  | { readonly outcome: 'published' | 'duplicate'; readonly eventId: string }
  | { readonly outcome: 'conflict' };

const LANES_PER_WAKE_UP = 1_000;

/** Publishes many events of any clients with a constant number of statements. */
@Injectable()
export class BulkPublisher {
  private readonly logger = new Logger('Webhooks');
  private readonly wakeUps = new BatchedStatement<string>({
    execute: (endpointIds) => this.lanes.wakeLanes([...new Set(endpointIds)]),
    maxRows: LANES_PER_WAKE_UP,
    maxStatements: 1,
  });

  constructor(
    private readonly repository: BulkPublisherRepository,
    private readonly queue: DeliveryQueueService,
    private readonly lanes: DeliveryQueueRepository,
    private readonly transaction: Transaction,
    private readonly clock: Clock,
  ) {}

  /**
   * Stores the events and their deliveries in the open transaction, or in one of its own.
   *
   * @returns one result for each request, in order
   */
  @Transactional()
  async publishAll(requests: readonly PublishRequest[]): Promise<readonly PublishResult[]> {
    const now = this.clock.now();
    const candidates = requests.map((request) => {
      const event = newEvent(request.client, request.event, now);
      return { event, key: keyOf(event, request) };
    });
    const keys = candidates.flatMap(({ key }) => key ?? []);
    const taken = keys.length === 0 ? [] : await this.repository.claimKeys(keys);
    const owners = new Map(taken.map((owner) => [idOf(owner), owner]));
    const results = candidates.map(({ event, key }) => resultOf(event, key, key && owners.get(idOf(key))));
    const added = candidates.flatMap(({ event }, index) =>
      results[index]?.outcome === 'published' ? [event] : [],
    );
    if (added.length > 0) await this.store(added);
    return results;
  }

  private async store(events: readonly NewEvent[]): Promise<void> {
    await this.repository.addEvents(events);
    const endpointIds = await this.repository.addDeliveries(events, this.queue.attemptsAllowed);
    this.transaction.afterCommit(() => {
      for (const id of endpointIds) {
        this.wakeUps
          .add(id)
          .catch((error: unknown) =>
            this.logger.warn('A lane was not woken; a job will wake it within seconds', error),
          );
      }
    });
  }
}

function keyOf(event: NewEvent, { idempotency }: PublishRequest): EventKey | undefined {
  return (
    idempotency && { clientId: event.clientId, eventId: event.id, createdAt: event.createdAt, ...idempotency }
  );
}

/** Identifies a key in a map. A UUID contains no space. */
function idOf({ clientId, key }: EventKey): string {
  return `${clientId} ${key}`;
}

function resultOf(event: NewEvent, key: EventKey | undefined, owner: EventKey | undefined): PublishResult {
  if (!key || !owner || owner.eventId === event.id) return { outcome: 'published', eventId: event.id };
  if (!owner.contentHash.equals(key.contentHash)) return { outcome: 'conflict' };
  return { outcome: 'duplicate', eventId: owner.eventId };
}
