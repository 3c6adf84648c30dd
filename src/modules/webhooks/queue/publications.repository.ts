import { Injectable } from '@nestjs/common';
import { prepared, Transaction } from '../../../infrastructure/database/index.js';
import type { NewEvent } from '../events/webhook-events.repository.js';
import type { ClaimedDelivery, DeliveryLane } from './delivery.js';
import { LANE, LEASE_UNTIL, notifyLanes, secretVersionsOf } from './lane-rules.js';

/** An event and the organization of its client. */
export interface Publication {
  readonly event: NewEvent;
  readonly organizationId: string;
}

/** How many of the new deliveries the publishing process can send itself at once. */
export interface ClaimLimits {
  readonly total: number;
  readonly perOrganization: ReadonlyMap<string, number>;
  /** Maximum number of attempts to one endpoint at the same time, over all processes. */
  readonly width: number;
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

type Row = { [Column in keyof ClaimedPublication]: ClaimedPublication[Column] | null };

const NO_CLAIMS: ClaimLimits = { total: 0, perOrganization: new Map(), width: 0, worker: 0 };

/** Lane of deliveries that were claimed when their event was published. */
export function laneOf({ organizationId }: Publication): DeliveryLane {
  return { organizationId, isProven: true };
}

/**
 * Stores events with a delivery for each endpoint of their clients. Lanes that are proven, idle enough, and have no
 * other deliveries waiting give their new deliveries to the publishing process at once, which saves the claim. `SKIP LOCKED`:
 * publishing never waits for a lane. The notification reaches the workers when the transaction commits.
 */
const PUBLISH = prepared(
  `WITH event AS MATERIALIZED (
          SELECT * FROM unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::text[], $5::text[], $6::uuid[], $7::bigint[],
                               $8::text[], $9::bytea[], $10::uuid[], $11::integer[])
                   WITH ORDINALITY AS event (id, created_at, client_id, environment, event, session_id, task_id,
                                             external_user_id, body, organization_id, room, position)),
        stored AS (
          INSERT INTO webhook_event (id, created_at, client_id, environment, event, session_id, task_id,
                                     external_user_id, body)
          SELECT id, created_at, client_id, environment, event, session_id, task_id, external_user_id, body FROM event),
        delivery AS MATERIALIZED (
          SELECT event.id AS event_id, event.created_at, organization_id, room, position, endpoint.id AS endpoint_id, url
            FROM event
            JOIN webhook_endpoint endpoint ON endpoint.client_id = event.client_id),
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
          versions AS "secretVersions"
     FROM (${notifyLanes('SELECT DISTINCT endpoint_id FROM added WHERE claim_id IS NULL')}) notified
     LEFT JOIN (added JOIN event ON event.id = event_id JOIN secret USING (client_id)) ON claim_id IS NOT NULL`,
);

/** Publishes events: one statement for any number of them. */
@Injectable()
export class PublicationsRepository {
  constructor(private readonly transaction: Transaction) {}

  /** @returns the deliveries that the calling process has claimed and has to send now; none without limits */
  async publish(
    publications: readonly Publication[],
    attemptsAllowed: number,
    claims: ClaimLimits = NO_CLAIMS,
  ): Promise<ClaimedPublication[]> {
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
      attemptsAllowed,
      claims.width,
      claims.worker,
    ]);
    return rows.filter((row): row is ClaimedPublication => row.id !== null);
  }
}
