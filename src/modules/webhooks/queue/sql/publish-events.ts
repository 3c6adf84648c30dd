import { CHANGE_ACCOUNTS } from '../../../merchant-accounts/index.js';
import { REQUIRED_SESSION } from '../../../sessions/index.js';
import type { NewEvent } from '../../webhook-event.js';
import type { ClaimedDelivery } from '../../delivery.js';
import { IS_SUBSCRIBED, LEASE_UNTIL, secretVersionsOf, signingRevisionOf } from './statement-parts.js';
import { LANE, notifyLanes } from './lane.js';
import { Statement } from '../../../../infrastructure/database/index.js';

interface PublishedItem extends NewEvent {
  readonly organizationId: string;
  /** The idempotency key, and a hash of the content of the request. */
  readonly key: string | undefined;
  readonly contentHash: Buffer | undefined;
  /** How many deliveries to the organization's endpoints the publishing process can send itself at once. */
  readonly organizationRoom: number;
  /** Whether the event is refused unless its session exists and belongs to its client and user. */
  readonly requiresSession: boolean;
  /** Where the body gets the metadata of the session, in bytes; undefined if it does not. */
  readonly metadataAt: number | undefined;
}

interface PublishLimits {
  /** How many of the new deliveries the publishing process can send itself at once. */
  readonly maxClaims: number;
  /** Identifies the publishing process. */
  readonly worker: number | null;
  readonly attemptsAllowed: number;
  readonly maxWidth: number;
}

/** A delivery that was claimed when its event was published. */
export interface ImmediateDelivery extends Pick<
  ClaimedDelivery,
  'id' | 'claimId' | 'endpointId' | 'url' | 'secretVersions' | 'signingRevision'
> {
  /** With the metadata of the session; null if the body did not get any. */
  readonly body: Buffer | null;
}

/** The outcome for an event. `eventId` is the ID of the event that has the idempotency key, if there is one. */
interface PublishedRow {
  /** The position of the event, starting at 1. */
  readonly position: number;
  readonly outcome: 'published' | 'duplicate' | 'conflict' | 'session_not_found';
  readonly eventId: string;
}

type Nullable<Row> = { readonly [Column in keyof Row]: Row[Column] | null };

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
 * - `request`: an event without the session that it requires is not stored. The metadata of the session goes into the body.
 * - `key`: an event whose idempotency key exists is not stored. The update, which changes nothing, returns the earlier event also if
 *   it was committed after this statement began.
 * - `account`: events about a sign-in change the merchant account, before the statement locks anything else that another one
 *   could wait for, and before the events get their positions.
 * - `claimed`: lanes that are ready, proven, not due and have room give their new deliveries to the publishing process at
 *   once, which saves the claim. `SKIP LOCKED`: publishing never waits for the lock of a lane.
 * - Workers and listeners are notified when the transaction commits.
 *
 * Returns rows for events that were not published, and for deliveries that were claimed. There is one row without an event if there
 * are none.
 */
const publishEvents = (limit: string): string => `
  WITH request AS MATERIALIZED (
         SELECT request.id, created_at, occurred_at, client_id, environment, event, session_id, task_id, external_user_id, merchant_id,
                organization_id, organization_room, key, content_hash, position, metadata_at,
                requires_session AND session.id IS NULL AS is_refused,
                -- 123 is the brace of data that is empty.
                CASE WHEN metadata_at IS NULL OR metadata IS NULL THEN body
                     ELSE substring(body FOR metadata_at)
                          || convert_to(CASE get_byte(body, metadata_at - 1) WHEN 123 THEN '' ELSE ',' END
                                        || '"metadata":' || metadata, 'UTF8')
                          || substring(body FROM metadata_at + 1) END AS body
           FROM unnest($id::uuid[], $createdAt::timestamptz[], $occurredAt::timestamptz[], $clientId::uuid[], $environment::text[],
                              $name::text[], $sessionId::uuid[], $taskId::bigint[], $externalUserId::text[],
                              $merchantId::integer[], $body::bytea[], $organizationId::uuid[], $organizationRoom::integer[],
                       $key::text[], $contentHash::bytea[], $requiresSession::boolean[], $metadataAt::integer[])
                  WITH ORDINALITY AS request (id, created_at, occurred_at, client_id, environment, event, session_id, task_id,
                                              external_user_id, merchant_id, body, organization_id, organization_room, key,
                                              content_hash, requires_session, metadata_at, position)
           LEFT JOIN LATERAL (${REQUIRED_SESSION}) session ON true
          ${limit}),
       key AS (
         INSERT INTO webhook_event_key AS known (client_id, key, event_id, content_hash, created_at)
         SELECT DISTINCT ON (client_id, key) client_id, key, id, content_hash, created_at
           FROM request WHERE key IS NOT NULL AND NOT is_refused
          ORDER BY client_id, key, position
             ON CONFLICT (client_id, key) DO UPDATE SET content_hash = known.content_hash
         RETURNING client_id, key, event_id, content_hash),
       event AS MATERIALIZED (
         SELECT * FROM request WHERE NOT is_refused AND (key IS NULL OR id IN (SELECT event_id FROM key))),
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
          ORDER BY endpoint_id
             ON CONFLICT DO NOTHING),
       secret AS MATERIALIZED (
         SELECT client_id, ${secretVersionsOf('client.client_id')} AS versions
           FROM (SELECT DISTINCT client_id FROM event WHERE $maxClaims > 0) client),
       result AS (
         SELECT position, request.id AS request_id, client_id, COALESCE(key.event_id, request.id) AS event_id,
                CASE WHEN is_refused THEN 'session_not_found'
                     WHEN key.event_id <> request.id
                     THEN CASE WHEN key.content_hash = request.content_hash THEN 'duplicate' ELSE 'conflict' END
                     ELSE 'published' END AS outcome,
                CASE WHEN metadata_at IS NOT NULL THEN body END AS body
           FROM request LEFT JOIN key USING (client_id, key))
  SELECT position::integer, outcome, result.event_id AS "eventId", added.id, claim_id AS "claimId", endpoint_id AS "endpointId",
         url, versions AS "secretVersions", ${signingRevisionOf('endpoint_id')} AS "signingRevision", body
    FROM (${notifyLanes('SELECT DISTINCT endpoint_id FROM added WHERE claim_id IS NULL')}) notified
   CROSS JOIN (${NOTIFY_LISTENERS}) listening
    LEFT JOIN (result
               LEFT JOIN added ON added.event_id = request_id AND claim_id IS NOT NULL
               LEFT JOIN secret USING (client_id))
           ON added.id IS NOT NULL OR outcome <> 'published'`;

type PublishStatement = Statement<
  PublishLimits,
  Nullable<PublishedRow> & Nullable<ImmediateDelivery>,
  PublishedItem
>;

/** For as many events as usually arrive at the same time: its plan is made for one. */
export const PUBLISH_FEW: PublishStatement = new Statement(publishEvents('LIMIT cardinality($id)'));
/** Events of a statement with a plan for one. With more, its joins would take longer than planning. */
export const FEW_EVENTS = 20;
export const PUBLISH_MANY: PublishStatement = new Statement(publishEvents(''));
