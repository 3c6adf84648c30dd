import { Injectable } from '@nestjs/common';
import { BatchedStatement, repeatedOnce, Transaction } from '../../../infrastructure/database/index.js';
import type { NewEvent } from '../events/webhook-events.repository.js';
import { WebhookDeliveriesConfiguration } from '../webhook-deliveries.configuration.js';
import type { Reservation } from './attempt-slots.js';
import type { QueuedDelivery } from './delivery.js';
import { PUBLISH_EVENTS, type ImmediateDelivery } from './sql/publish-events.js';

/** A client's key for an event. With the same key and content, the event is published once. */
export interface Idempotency {
  readonly key: string;
  /** SHA-256 of the content of the request. */
  readonly contentHash: Buffer;
}

export interface Publication {
  readonly event: NewEvent;
  readonly organizationId: string;
  readonly idempotency: Idempotency | undefined;
}

/**
 * `duplicate`: the key has an earlier event. `conflict`: it was used for an event with different content. `failed`: the event
 * was not stored, or it is unknown whether it was.
 */
export type PublishResult =
  | { readonly outcome: 'published' | 'duplicate'; readonly eventId: string }
  | { readonly outcome: 'conflict' }
  | { readonly outcome: 'failed'; readonly error: Error };

export interface LocalWorker {
  readonly id: number;
  /** The claims whose attempts it is making, or has made and not settled. */
  readonly claimIds: Iterable<string>;
  /** Whether it has been connected for so long that other workers are connected, too, if they run. */
  readonly seesOthers: boolean;
  /** Called after a settlement if a lane has further deliveries that are due. */
  onLaneDue(): void;
  reserve(organizationIds: ReadonlySet<string>): Reservation;
  start(delivery: QueuedDelivery): void;
}

type ClaimLimits = Omit<Reservation, 'release'> & { readonly worker: number };

interface PublishedKey extends Idempotency {
  readonly clientId: string;
  readonly eventId: string;
}

const EVENTS_PER_STATEMENT = 1_000;
const CONCURRENT_STATEMENTS = 2;
const NO_CLAIMS: ClaimLimits = { total: 0, perOrganization: new Map(), worker: 0 };

/**
 * Publishes events: one statement for any number of them. Outside a transaction, events of concurrent requests share a
 * statement, which commits by itself. If this process has a worker, it claims their deliveries in the same statement.
 */
@Injectable()
export class PublicationsBatch {
  /** Set by `DeliveryWorker`. Undefined if this process has no worker, or when the worker stops. */
  worker: LocalWorker | undefined;
  private readonly statements = new BatchedStatement<Publication, PublishResult>({
    execute: (publications) =>
      repeatedOnce(
        () => this.storeAndStart(publications),
        () => this.storeMissing(publications),
      ),
    maxRows: EVENTS_PER_STATEMENT,
    maxStatements: CONCURRENT_STATEMENTS,
  });

  constructor(
    private readonly transaction: Transaction,
    private readonly configuration: WebhookDeliveriesConfiguration,
  ) {}

  /**
   * Publishes in the open transaction. Without one, resolves when the events are committed, and an event that cannot be
   * stored does not prevent the others.
   *
   * @returns a result for each publication, in order
   */
  async publish(publications: readonly Publication[]): Promise<PublishResult[]> {
    if (this.transaction.isOpen) return (await this.store(publications, NO_CLAIMS)).results;
    return Promise.all(
      publications.map((publication) =>
        this.statements.add(publication).catch((error: Error) => ({ outcome: 'failed', error }) as const),
      ),
    );
  }

  /** Stores what the database does not have, because the response to the first statement was lost. */
  private async storeMissing(publications: readonly Publication[]): Promise<PublishResult[]> {
    const events = publications.map(({ event }) => event);
    const rows = await this.transaction.manager.query<{ id: string }[]>(
      'SELECT id FROM webhook_event WHERE id = ANY ($1) AND created_at = ANY ($2)',
      [events.map(({ id }) => id), events.map(({ createdAt }) => createdAt)],
    );
    const stored = new Set(rows.map(({ id }) => id));
    const missing = publications.filter(({ event }) => !stored.has(event.id));
    const results = missing.length === 0 ? [] : await this.storeAndStart(missing);
    const byEvent = new Map(missing.map(({ event }, index) => [event.id, results[index] as PublishResult]));
    return events.map(({ id }) => byEvent.get(id) ?? { outcome: 'published', eventId: id });
  }

  private async storeAndStart(publications: readonly Publication[]): Promise<PublishResult[]> {
    const { worker } = this;
    if (!worker) return (await this.store(publications, NO_CLAIMS)).results;
    const organizationIds = new Set(publications.map(({ organizationId }) => organizationId));
    const { release, ...room } = worker.reserve(organizationIds);
    try {
      const { results, claimed } = await this.store(publications, { ...room, worker: worker.id });
      const byEvent = new Map(publications.map((publication) => [publication.event.id, publication]));
      for (const delivery of claimed) {
        const { event, organizationId } = byEvent.get(delivery.eventId) as Publication;
        worker.start({
          ...delivery,
          attempt: 1,
          attemptsAllowed: this.configuration.attemptsAllowed,
          client: { clientId: event.clientId, environment: event.environment },
          event,
          // Only proven lanes give their deliveries to a publishing process.
          lane: { organizationId, isProven: true },
        });
      }
      return results;
    } finally {
      release();
    }
  }

  /** @returns also the deliveries that this process has claimed and has to send now */
  private async store(
    publications: readonly Publication[],
    claims: ClaimLimits,
  ): Promise<{ results: PublishResult[]; claimed: ImmediateDelivery[] }> {
    const { attemptsAllowed, endpointConcurrency: maxWidth } = this.configuration;
    const rows = await PUBLISH_EVENTS.run(
      this.transaction.manager,
      { maxClaims: claims.total, worker: claims.worker, attemptsAllowed, maxWidth },
      publications.map(({ event, organizationId, idempotency }) => ({
        ...event,
        organizationId,
        organizationRoom: claims.perOrganization.get(organizationId) ?? 0,
        key: idempotency?.key,
        contentHash: idempotency?.contentHash,
      })),
    );
    const withNewKey = new Set(rows[0]?.keyed);
    return {
      results: await this.resultsOf(publications, withNewKey),
      claimed: rows.filter((row): row is typeof row & ImmediateDelivery => row.id !== null),
    };
  }

  /** @param withNewKey the events that the statement stored with their idempotency keys; it stored none whose key existed */
  private async resultsOf(
    publications: readonly Publication[],
    withNewKey: ReadonlySet<string>,
  ): Promise<PublishResult[]> {
    const isRepeated = ({ event, idempotency }: Publication): boolean =>
      idempotency !== undefined && !withNewKey.has(event.id);
    const repeated = publications.filter(isRepeated);
    // A separate statement, because the snapshot of the first one may be older than the keys that it met. Its failure must
    // not fail the whole batch, because the other events may be committed by now.
    const earlier = repeated.length === 0 ? [] : await this.keysOf(repeated).catch((error: Error) => error);
    const nameOf = (clientId: string, key: string | undefined): string => `${clientId} ${key}`;
    const byKey = new Map(
      (earlier instanceof Error ? [] : earlier).map((published) => [
        nameOf(published.clientId, published.key),
        published,
      ]),
    );
    return publications.map((publication): PublishResult => {
      const { event, idempotency } = publication;
      if (!isRepeated(publication)) return { outcome: 'published', eventId: event.id };
      if (earlier instanceof Error) return { outcome: 'failed', error: earlier };
      const published = byKey.get(nameOf(event.clientId, idempotency?.key));
      // Also if the key was deleted after the statement met it: the event was not stored.
      if (!idempotency || !published?.contentHash.equals(idempotency.contentHash))
        return { outcome: 'conflict' };
      return { outcome: 'duplicate', eventId: published.eventId };
    });
  }

  private keysOf(publications: readonly Publication[]): Promise<PublishedKey[]> {
    return this.transaction.manager.query<PublishedKey[]>(
      `SELECT client_id AS "clientId", key, event_id AS "eventId", content_hash AS "contentHash"
         FROM webhook_event_key
        WHERE (client_id, key) IN (SELECT * FROM unnest($1::uuid[], $2::text[]))`,
      [
        publications.map(({ event }) => event.clientId),
        publications.map(({ idempotency }) => idempotency?.key),
      ],
    );
  }
}
