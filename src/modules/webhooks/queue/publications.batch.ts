import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import {
  BatchedStatement,
  repeatedOnce,
  Transaction,
  type Positioned,
} from '../../../infrastructure/database/index.js';
import { metadataOffset, type NewEvent } from '../webhook-event.js';
import { WebhookDeliveriesConfiguration } from '../webhook-deliveries.configuration.js';
import type { Reservation } from './attempt-slots.js';
import { DeliveryQueueService } from './delivery-queue.service.js';
import type { LocalWorker } from './local-worker.js';
import { FEW_EVENTS, PUBLISH_FEW, PUBLISH_MANY, type ImmediateDelivery } from './sql/publish-events.js';

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
  readonly session: RequiredSession | undefined;
}

/**
 * `required`: an event is refused unless its session exists and belongs to its client and user. `attached`: and it gets the metadata of
 * the session.
 */
export type RequiredSession = 'required' | 'attached';

/**
 * `duplicate`: the key has an earlier event. `conflict`: it was used for an event with different content. `session_not_found`: the
 * event is refused. `failed`: the event was not stored, or it is unknown whether it was.
 */
export type PublishResult =
  | {
      readonly outcome: 'published' | 'duplicate' | 'conflict' | 'session_not_found';
      readonly eventId: string;
    }
  | { readonly outcome: 'failed'; readonly error: Error };

type ClaimLimits = Omit<Reservation, 'release'> & { readonly worker: number | null };

const EVENTS_PER_STATEMENT = 1_000;
const CONCURRENT_STATEMENTS = 2;
/** Milliseconds after which a statement probably waits for a lock, which must not stop other publications. */
const STATEMENT_PATIENCE = 20;
/** Milliseconds for which a statement waits for a claim or a settlement at most. Usually, these take less. */
const LOCK_PATIENCE = 10;
const NO_CLAIMS: ClaimLimits = { total: 0, perOrganization: new Map(), worker: null };

/**
 * Publishes events: one statement for any number of them. Outside a transaction, events of concurrent requests share a
 * statement, which commits by itself. If this process has a worker, it claims their deliveries in the same statement.
 */
@Injectable()
export class PublicationsBatch {
  private worker: LocalWorker | undefined;
  private readonly statements = new BatchedStatement<Publication, PublishResult>({
    execute: (publications) =>
      repeatedOnce(
        () => this.storeAndStart(publications),
        () => this.storeMissing(publications),
      ),
    maxRows: EVENTS_PER_STATEMENT,
    maxStatements: CONCURRENT_STATEMENTS,
    // Of two statements at the same time, one would pass the lanes that the other has locked.
    aloneFor: STATEMENT_PATIENCE,
  });

  constructor(
    private readonly transaction: Transaction,
    private readonly queue: DeliveryQueueService,
    private readonly configuration: WebhookDeliveriesConfiguration,
  ) {}

  /** @param worker makes the attempts from now on; undefined when it stops. A process without a worker makes none */
  serve(worker: LocalWorker | undefined): void {
    this.worker = worker;
  }

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

  /**
   * Stores what the database does not have, because the response to the first statement was lost. That statement may still be running:
   * it may commit after this method has looked, so that the second one meets its events, or waits for them. Then this looks again.
   */
  private async storeMissing(publications: readonly Publication[]): Promise<PublishResult[]> {
    const missing = await this.missingAmong(publications);
    let results: PublishResult[] = [];
    try {
      if (missing.length > 0) results = await this.storeAndStart(missing);
    } catch (error) {
      if ((await this.missingAmong(missing)).length === missing.length) throw error;
      return this.storeMissing(publications);
    }
    const byEvent = new Map(missing.map(({ event }, index) => [event.id, results[index] as PublishResult]));
    return publications.map(({ event: { id } }) => byEvent.get(id) ?? { outcome: 'published', eventId: id });
  }

  private async missingAmong(publications: readonly Publication[]): Promise<Publication[]> {
    const events = publications.map(({ event }) => event);
    const rows = await this.transaction.manager.query<{ id: string }[]>(
      'SELECT id FROM webhook_event WHERE id = ANY ($1) AND created_at = ANY ($2)',
      [events.map(({ id }) => id), events.map(({ createdAt }) => createdAt)],
    );
    const stored = new Set(rows.map(({ id }) => id));
    return publications.filter(({ event }) => !stored.has(event.id));
  }

  private async storeAndStart(publications: readonly Publication[]): Promise<PublishResult[]> {
    const { worker } = this;
    if (!worker) return (await this.store(publications, NO_CLAIMS)).results;
    // Under load, there is always a claim. It takes many deliveries, and waiting for it does not help.
    const claim = publications.length === 1 ? worker.runningClaim : undefined;
    const lock =
      claim ?? this.queue.runningSettlementOf(new Set(publications.map(({ event }) => event.clientId)));
    // The statement would pass the lanes that are locked, and its deliveries would need another claim.
    if (lock)
      await Promise.race([lock, pause(LOCK_PATIENCE, undefined, { ref: false })]).catch(() => undefined);
    const organizationIds = new Set(publications.map(({ organizationId }) => organizationId));
    const { release, ...room } = worker.reserve(organizationIds);
    try {
      const { results, claimed } = await this.store(publications, { ...room, worker: worker.claimant });
      for (const { position, body, ...delivery } of claimed) {
        const { event, organizationId } = publications[position - 1] as Publication;
        worker.start({
          ...delivery,
          attempt: 1,
          attemptsAllowed: this.configuration.attemptsAllowed,
          client: { clientId: event.clientId, environment: event.environment },
          event: body ? { ...event, body } : event,
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
  ): Promise<{ results: PublishResult[]; claimed: (ImmediateDelivery & Positioned)[] }> {
    const { attemptsAllowed, endpointConcurrency: maxWidth } = this.configuration;
    const statement = publications.length > FEW_EVENTS ? PUBLISH_MANY : PUBLISH_FEW;
    const rows = await statement.run(
      this.transaction.manager,
      { maxClaims: claims.total, worker: claims.worker, attemptsAllowed, maxWidth },
      publications.map(({ event, organizationId, idempotency, session }) => ({
        ...event,
        organizationId,
        organizationRoom: claims.perOrganization.get(organizationId) ?? 0,
        key: idempotency?.key,
        contentHash: idempotency?.contentHash,
        requiresSession: session !== undefined,
        metadataAt: session === 'attached' ? metadataOffset(event.body) : undefined,
      })),
    );
    const results: PublishResult[] = publications.map(({ event }) => ({
      outcome: 'published',
      eventId: event.id,
    }));
    for (const { position, outcome, eventId } of rows)
      if (position !== null && outcome !== null && eventId !== null)
        results[position - 1] = { outcome, eventId };
    return {
      results,
      claimed: rows.filter((row): row is typeof row & ImmediateDelivery & Positioned => row.id !== null),
    };
  }
}
