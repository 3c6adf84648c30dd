import { CHANGE_ACCOUNTS } from '../../../merchant-accounts/index.js';
import type { NewEvent } from '../../events/webhook-events.repository.js';
import type { ClaimedDelivery } from '../delivery.js';
import { IS_SUBSCRIBED, LANE, LEASE_UNTIL, notifyLanes, secretVersionsOf } from './lane.js';
import { Statement } from '../../../../infrastructure/database/index.js';

interface PublishedItem extends NewEvent {
  readonly organizationId: string;
  /** The idempotency key, and a hash of the content of the request. */
  readonly key: string | undefined;
  readonly contentHash: Buffer | undefined;
  /** How many deliveries to the organization's endpoints the publishing process can send itself at once. */
  readonly organizationRoom: number;
}

interface PublishLimits {
  /** How many of the new deliveries the publishing process can send itself at once. */
  readonly maxClaims: number;
  /** Identifies the publishing process. */
  readonly worker: number;
  readonly attemptsAllowed: number;
  readonly maxWidth: number;
}

/** A delivery that was claimed when its event was published. */
export interface ImmediateDelivery extends Pick<
  ClaimedDelivery,
  'id' | 'claimId' | 'endpointId' | 'url' | 'secretVersions'
> {
  readonly eventId: string;
}

type Row = { [Column in keyof ImmediateDelivery]: ImmediateDelivery[Column] | null } & {
  /** The events whose keys are new; null if there are none. */
  readonly keyed: string[] | null;
};

/** Channel that is notified of clients that have listeners and new events. The payload is the ID of one client. */
export const LISTENERS_CHANNEL = 'webhook_listeners';

/**
 * Notifies the listeners (`stream/`) of the clients. Without listeners, this costs one look at an empty table. PostgreSQL
 * sends equal notifications of a transaction once.
 */
const NOTIFY_LISTENERS = `
  SELECT count(pg_notify('${LISTENERS_CHANNEL}', client_id::text)) AS notifications
    FROM webhook_listener WHERE client_id IN (SELECT client_id FROM event)`;

/**
 * Stores events with a delivery for each subscribed endpoint of their clients, in these steps:
 *
 * - `key`: an event whose idempotency key exists is not stored.
 * - `account`: events about a sign-in change the merchant account, before the statement locks anything else that another one
 *   could wait for, and before the events get their positions.
 * - `claimed`: lanes that are ready, proven, not due and have room give their new deliveries to the publishing process at
 *   once, which saves the claim. `SKIP LOCKED`: publishing never waits for the lock of a lane.
 * - Workers and listeners are notified when the transaction commits.
 */
export const PUBLISH_EVENTS = new Statement<PublishLimits, Row, PublishedItem>(
  `
  WITH request AS MATERIALIZED (
         SELECT * FROM unnest($id::uuid[], $createdAt::timestamptz[], $occurredAt::timestamptz[], $clientId::uuid[], $environment::text[],
                              $name::text[], $sessionId::uuid[], $taskId::bigint[], $externalUserId::text[],
                              $merchantId::integer[], $body::bytea[], $organizationId::uuid[], $organizationRoom::integer[],
                              $key::text[], $contentHash::bytea[])
                  WITH ORDINALITY AS request (id, created_at, occurred_at, client_id, environment, event, session_id, task_id,
                                              external_user_id, merchant_id, body, organization_id, organization_room, key,
                                              content_hash, position)),
       key AS (
         INSERT INTO webhook_event_key (client_id, key, event_id, content_hash, created_at)
         SELECT client_id, key, id, content_hash, created_at FROM request WHERE key IS NOT NULL
          ORDER BY client_id, key, position
             ON CONFLICT DO NOTHING
         RETURNING event_id),
       event AS MATERIALIZED (
         SELECT * FROM request WHERE key IS NULL OR id IN (SELECT event_id FROM key)),
       account AS (${CHANGE_ACCOUNTS}),
       stored AS (
         INSERT INTO webhook_event (id, created_at, client_id, environment, event, session_id, task_id,
                                    external_user_id, body)
         SELECT id, created_at, client_id, environment, event, session_id, task_id, external_user_id, body FROM event),
       delivery AS MATERIALIZED (
         SELECT event.id AS event_id, event.created_at, organization_id, organization_room, position,
                endpoint.id AS endpoint_id, url
           FROM event
           JOIN webhook_endpoint endpoint ON endpoint.client_id = event.client_id AND ${IS_SUBSCRIBED}
          WHERE (SELECT count(*) FROM account) >= 0
            FOR KEY SHARE OF endpoint),
       lane AS MATERIALIZED (
         SELECT endpoint_id, LEAST(${LANE.width}, $maxWidth) - in_flight AS room
           FROM webhook_lane
          WHERE $maxClaims > 0 AND endpoint_id IN (SELECT endpoint_id FROM delivery)
            AND (next_due IS NULL OR next_due > now()) AND in_flight < LEAST(${LANE.width}, $maxWidth)
            AND ${LANE.isReady} AND ${LANE.isProven}
          ORDER BY endpoint_id
            FOR UPDATE SKIP LOCKED),
       fitting AS MATERIALIZED (
         SELECT delivery.*
           FROM (SELECT delivery.*, row_number() OVER (PARTITION BY endpoint_id ORDER BY position) AS rank
                   FROM delivery) delivery
           JOIN lane USING (endpoint_id)
          WHERE rank <= lane.room),
       claimed AS MATERIALIZED (
         SELECT event_id, endpoint_id
           FROM (SELECT fitting.*,
                        row_number() OVER (PARTITION BY organization_id ORDER BY rank, position) AS organization_rank,
                        row_number() OVER (ORDER BY rank, position) AS total_rank
                   FROM fitting) fitting
          WHERE organization_rank <= organization_room AND total_rank <= $maxClaims),
       added AS (
         INSERT INTO webhook_delivery (endpoint_id, event_id, event_created_at, url, attempts_allowed, due_at, attempts,
                                       claim_id, attempt_started_at, lease_until, claimed_by)
         SELECT endpoint_id, event_id, created_at, url, $attemptsAllowed, now(), is_claimed::integer,
                CASE WHEN is_claimed THEN gen_random_uuid() END, CASE WHEN is_claimed THEN now() END,
                CASE WHEN is_claimed THEN ${LEASE_UNTIL} END, CASE WHEN is_claimed THEN $worker::integer END
           FROM (SELECT delivery.*, claimed.event_id IS NOT NULL AS is_claimed
                   FROM delivery LEFT JOIN claimed USING (event_id, endpoint_id)) delivery
          ORDER BY position
         RETURNING id, claim_id, endpoint_id, event_id, url),
       updated_lane AS (
         UPDATE webhook_lane SET in_flight = in_flight + claims.count
           FROM (SELECT endpoint_id, count(*)::integer AS count FROM claimed GROUP BY endpoint_id) claims
          WHERE webhook_lane.endpoint_id = claims.endpoint_id),
       new_lane AS (
         INSERT INTO webhook_lane (endpoint_id, organization_id)
         SELECT DISTINCT endpoint_id, organization_id FROM delivery
          WHERE NOT EXISTS (SELECT FROM webhook_lane lane WHERE lane.endpoint_id = delivery.endpoint_id)
             ON CONFLICT DO NOTHING),
       secret AS MATERIALIZED (
         SELECT client_id, ${secretVersionsOf('client.client_id')} AS versions
           FROM (SELECT DISTINCT client_id FROM event WHERE $maxClaims > 0) client)
  SELECT added.id, claim_id AS "claimId", endpoint_id AS "endpointId", event_id AS "eventId", url,
         versions AS "secretVersions", (SELECT array_agg(event_id) FROM key) AS keyed
    FROM (${notifyLanes('SELECT DISTINCT endpoint_id FROM added WHERE claim_id IS NULL')}) notified
   CROSS JOIN (${NOTIFY_LISTENERS}) listening
    LEFT JOIN (added JOIN event ON event.id = event_id JOIN secret USING (client_id)) ON claim_id IS NOT NULL`,
);
