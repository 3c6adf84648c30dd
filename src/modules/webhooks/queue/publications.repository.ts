import { Injectable } from '@nestjs/common';
import { prepared, Transaction } from '../../../infrastructure/database/index.js';
import type { NewEvent } from '../events/webhook-events.repository.js';
import { WebhookDeliveriesConfiguration } from '../webhook-deliveries.configuration.js';
import type { ClaimedDelivery, DeliveryLane } from './delivery.js';
import { notifyLanes, secretVersionsOf } from './delivery-queue.repository.js';
import { IS_SUBSCRIBED, LANE, LEASE_UNTIL } from './lane-rules.js';

/** A client's key for an event. With the same key and content, the event is published once. */
export interface Idempotency {
  readonly key: string;
  /** SHA-256 of the content of the request. */
  readonly contentHash: Buffer;
}

/** An event and the organization of its client. */
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

/** How many of the new deliveries the publishing process can send itself at once. */
export interface ClaimLimits {
  readonly total: number;
  readonly perOrganization: ReadonlyMap<string, number>;
  /** Identifies the publishing process. */
  readonly worker: number;
}

/** A delivery that was claimed when its event was published. */
export interface ClaimedPublication extends Pick<
  ClaimedDelivery,
  'id' | 'claimId' | 'endpointId' | 'url' | 'secretVersions'
> {
  readonly eventId: string;
}

type Row = { [Column in keyof ClaimedPublication]: ClaimedPublication[Column] | null } & {
  /** The events whose keys are new; null if there are none. */
  readonly keyed: string[] | null;
};

interface PublishedKey extends Idempotency {
  readonly clientId: string;
  readonly eventId: string;
}

const NO_CLAIMS: ClaimLimits = { total: 0, perOrganization: new Map(), worker: 0 };

/** Lane of deliveries that were claimed when their event was published. */
export function laneOf({ organizationId }: Publication): DeliveryLane {
  return { organizationId, isProven: true };
}

/** Channel that is notified of clients that have listeners and new events. The payload is the ID of one client. */
export const LISTENERS_CHANNEL = 'webhook_listeners';

/**
 * Notifies the listeners (module `webhook-stream`) of the clients. Without listeners, this costs one look at an empty table.
 * PostgreSQL sends equal notifications of a transaction once.
 */
const NOTIFY_LISTENERS = `
  SELECT count(pg_notify('${LISTENERS_CHANNEL}', client_id::text)) AS notifications
    FROM webhook_listener WHERE client_id IN (SELECT client_id FROM event)`;

/**
 * Stores events with a delivery for each subscribed endpoint of their clients. Lanes that are ready, proven, not due and have room give
 * their new deliveries to the publishing process at once, which saves the claim. `SKIP LOCKED`: publishing never waits for
 * the lock of a lane. The notification reaches the workers when the transaction commits.
 */
const PUBLISH = prepared(
  `WITH request AS MATERIALIZED (
          SELECT * FROM unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::text[], $5::text[], $6::uuid[], $7::bigint[],
                               $8::text[], $9::bytea[], $10::uuid[], $11::integer[], $16::text[], $17::bytea[])
                   WITH ORDINALITY AS request (id, created_at, client_id, environment, event, session_id, task_id,
                                               external_user_id, body, organization_id, room, key, content_hash, position)),
        key AS (
          INSERT INTO webhook_event_key (client_id, key, event_id, content_hash, created_at)
          SELECT client_id, key, id, content_hash, created_at FROM request WHERE key IS NOT NULL
           ORDER BY client_id, key, position
              ON CONFLICT DO NOTHING
          RETURNING event_id),
        event AS MATERIALIZED (
          SELECT * FROM request WHERE key IS NULL OR id IN (SELECT event_id FROM key)),
        stored AS (
          INSERT INTO webhook_event (id, created_at, client_id, environment, event, session_id, task_id,
                                     external_user_id, body)
          SELECT id, created_at, client_id, environment, event, session_id, task_id, external_user_id, body FROM event),
        delivery AS MATERIALIZED (
          SELECT event.id AS event_id, event.created_at, organization_id, room, position, endpoint.id AS endpoint_id, url
            FROM event
            JOIN webhook_endpoint endpoint ON endpoint.client_id = event.client_id AND ${IS_SUBSCRIBED}
             FOR KEY SHARE OF endpoint),
        lane AS MATERIALIZED (
          SELECT endpoint_id, LEAST(${LANE.width}, $14) - in_flight AS room
            FROM webhook_lane
           WHERE $12 > 0 AND endpoint_id IN (SELECT endpoint_id FROM delivery)
             AND (next_due IS NULL OR next_due > now()) AND in_flight < LEAST(${LANE.width}, $14)
             AND ${LANE.isReady} AND ${LANE.isProven}
           ORDER BY endpoint_id
             FOR UPDATE SKIP LOCKED),
        fitting AS MATERIALIZED (
          SELECT delivery.*, delivery.room AS organization_room
            FROM (SELECT delivery.*, row_number() OVER (PARTITION BY endpoint_id ORDER BY position) AS rank FROM delivery) delivery
            JOIN lane USING (endpoint_id)
           WHERE rank <= lane.room),
        claimed AS MATERIALIZED (
          SELECT event_id, endpoint_id
            FROM (SELECT fitting.*, row_number() OVER (PARTITION BY organization_id ORDER BY rank, position) AS organization_rank,
                         row_number() OVER (ORDER BY rank, position) AS total_rank
                    FROM fitting) fitting
           WHERE organization_rank <= organization_room AND total_rank <= $12),
        added AS (
          INSERT INTO webhook_delivery (endpoint_id, event_id, event_created_at, url, attempts_allowed, due_at, attempts,
                                        claim_id, attempt_started_at, lease_until, claimed_by)
          SELECT endpoint_id, event_id, created_at, url, $13, now(), is_claimed::integer,
                 CASE WHEN is_claimed THEN gen_random_uuid() END, CASE WHEN is_claimed THEN now() END,
                 CASE WHEN is_claimed THEN ${LEASE_UNTIL} END, CASE WHEN is_claimed THEN $15::integer END
            FROM (SELECT delivery.*, claimed.event_id IS NOT NULL AS is_claimed
                    FROM delivery LEFT JOIN claimed USING (event_id, endpoint_id)) delivery
           ORDER BY position
          RETURNING id, claim_id, endpoint_id, event_id, url),
        moved AS (
          UPDATE webhook_lane SET in_flight = in_flight + claims.count
            FROM (SELECT endpoint_id, count(*)::integer AS count FROM claimed GROUP BY endpoint_id) claims
           WHERE webhook_lane.endpoint_id = claims.endpoint_id),
        first AS (
          INSERT INTO webhook_lane (endpoint_id, organization_id)
          SELECT DISTINCT endpoint_id, organization_id FROM delivery
           WHERE NOT EXISTS (SELECT FROM webhook_lane lane WHERE lane.endpoint_id = delivery.endpoint_id)
              ON CONFLICT DO NOTHING),
        secret AS MATERIALIZED (
          SELECT client_id, ${secretVersionsOf('client.client_id')} AS versions
            FROM (SELECT DISTINCT client_id FROM event WHERE $12 > 0) client)
   SELECT added.id, claim_id AS "claimId", endpoint_id AS "endpointId", event_id AS "eventId", url,
          versions AS "secretVersions", (SELECT array_agg(event_id) FROM key) AS keyed
     FROM (${notifyLanes('SELECT DISTINCT endpoint_id FROM added WHERE claim_id IS NULL')}) notified
    CROSS JOIN (${NOTIFY_LISTENERS}) listening
     LEFT JOIN (added JOIN event ON event.id = event_id JOIN secret USING (client_id)) ON claim_id IS NOT NULL`,
);

/** Publishes events: one statement for any number of them. */
@Injectable()
export class PublicationsRepository {
  constructor(
    private readonly transaction: Transaction,
    private readonly configuration: WebhookDeliveriesConfiguration,
  ) {}

  /**
   * @param claims none by default
   * @returns a result for each publication, in order, and the deliveries that the calling process has claimed and has to
   * send now
   */
  async publish(
    publications: readonly Publication[],
    claims: ClaimLimits = NO_CLAIMS,
  ): Promise<{ results: PublishResult[]; claimed: ClaimedPublication[] }> {
    const column = <Value>(value: (publication: Publication) => Value): Value[] => publications.map(value);
    const rows = await this.transaction.manager.query<Row[]>(PUBLISH, [
      column(({ event }) => event.id),
      column(({ event }) => event.createdAt),
      column(({ event }) => event.clientId),
      column(({ event }) => event.environment),
      column(({ event }) => event.name),
      column(({ event }) => event.sessionId),
      column(({ event }) => event.taskId),
      column(({ event }) => event.externalUserId),
      column(({ event }) => event.body),
      column(({ organizationId }) => organizationId),
      column(({ organizationId }) => claims.perOrganization.get(organizationId) ?? 0),
      claims.total,
      this.configuration.attemptsAllowed,
      this.configuration.endpointConcurrency,
      claims.worker,
      column(({ idempotency }) => idempotency?.key),
      column(({ idempotency }) => idempotency?.contentHash),
    ]);
    const stored = new Set(rows[0]?.keyed);
    return {
      results: await this.resultsOf(publications, stored),
      claimed: rows.filter((row): row is Row & ClaimedPublication => row.id !== null),
    };
  }

  /** @param stored the events with a new key */
  private async resultsOf(
    publications: readonly Publication[],
    stored: ReadonlySet<string>,
  ): Promise<PublishResult[]> {
    const repeated = publications.filter(({ event, idempotency }) => idempotency && !stored.has(event.id));
    // A separate statement, because the snapshot of the first one may be older than the keys that it met. Its failure must
    // not fail the whole batch, because the other events may be committed by now.
    const earlier = repeated.length === 0 ? [] : await this.keysOf(repeated).catch((error: Error) => error);
    if (earlier instanceof Error) {
      return publications.map(({ event, idempotency }) =>
        !idempotency || stored.has(event.id)
          ? { outcome: 'published', eventId: event.id }
          : { outcome: 'failed', error: earlier },
      );
    }
    const byKey = new Map(earlier.map((published) => [nameOf(published.clientId, published.key), published]));
    return publications.map(({ event, idempotency }) => {
      if (!idempotency || stored.has(event.id)) return { outcome: 'published', eventId: event.id };
      const published = byKey.get(nameOf(event.clientId, idempotency.key));
      // Also if the key was deleted after the statement met it: the event was not stored.
      if (!published?.contentHash.equals(idempotency.contentHash)) return { outcome: 'conflict' };
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

/** Names a key in a map. A UUID contains no space. */
function nameOf(clientId: string, key: string): string {
  return `${clientId} ${key}`;
}
