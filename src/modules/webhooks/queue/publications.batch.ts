import { Injectable } from '@nestjs/common';
import { BatchedStatement } from '../../../infrastructure/database/index.js';
import { WebhookDeliveriesConfiguration } from '../webhook-deliveries.configuration.js';
import type { QueuedDelivery } from './delivery.js';
import {
  laneOf,
  PublicationsRepository,
  type ClaimedPublication,
  type Publication,
  type PublishResult,
} from './publications.repository.js';

/** Attempts that a worker can start, which it keeps free until they are released. */
interface ReservedRoom {
  readonly total: number;
  readonly perOrganization: ReadonlyMap<string, number>;
  release(): void;
}

/** The worker of this process. */
export interface LocalWorker {
  readonly id: number;
  reserve(organizationIds: ReadonlySet<string>): ReservedRoom;
  start(delivery: QueuedDelivery): void;
}

const EVENTS_PER_STATEMENT = 1_000;
const CONCURRENT_STATEMENTS = 2;

/**
 * Publishes events outside a transaction. Events of concurrent requests share a statement, which commits by itself. If this
 * process has a worker, it claims their deliveries in the same statement.
 */
@Injectable()
export class PublicationsBatch {
  private worker: LocalWorker | undefined;
  private readonly statements = new BatchedStatement<Publication, PublishResult>({
    execute: (publications) => this.execute(publications),
    maxRows: EVENTS_PER_STATEMENT,
    maxStatements: CONCURRENT_STATEMENTS,
  });

  constructor(
    private readonly repository: PublicationsRepository,
    private readonly configuration: WebhookDeliveriesConfiguration,
  ) {}

  /** @param worker undefined when the worker stops */
  setWorker(worker: LocalWorker | undefined): void {
    this.worker = worker;
  }

  /** Resolves when the event is committed. */
  add(publication: Publication): Promise<PublishResult> {
    return this.statements.add(publication);
  }

  private async execute(publications: readonly Publication[]): Promise<PublishResult[]> {
    const { worker } = this;
    if (!worker) return (await this.repository.publish(publications)).results;
    const { release, ...room } = worker.reserve(
      new Set(publications.map(({ organizationId }) => organizationId)),
    );
    try {
      const { results, claimed } = await this.repository.publish(publications, {
        ...room,
        worker: worker.id,
      });
      const byEvent = new Map(publications.map((publication) => [publication.event.id, publication]));
      for (const delivery of claimed) {
        const publication = byEvent.get(delivery.eventId) as Publication;
        worker.start(toQueued(delivery, publication, this.configuration.attemptsAllowed));
      }
      return results;
    } finally {
      release();
    }
  }
}

function toQueued(
  delivery: ClaimedPublication,
  publication: Publication,
  attemptsAllowed: number,
): QueuedDelivery {
  const { clientId, environment } = publication.event;
  return {
    ...delivery,
    attempt: 1,
    attemptsAllowed,
    client: { clientId, environment },
    event: publication.event,
    lane: laneOf(publication),
  };
}
