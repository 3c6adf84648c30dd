import type { ClaimedDelivery } from '../../delivery.js';
import { INDEXES_ONLY, LEASE_UNTIL, signingRevisionOf } from './statement-parts.js';
import type { LockedLane } from './lock-due-lanes.js';
import { Statement } from '../../../../infrastructure/database/index.js';

interface ClaimLimits {
  readonly limit: number;
  /** Identifies the process that claims; null to leave the claims to their leases. */
  readonly worker: number | null;
}

/** A claimed delivery without its event. */
export interface ClaimedRow extends Omit<ClaimedDelivery, 'client' | 'event' | 'secretVersions'> {
  readonly eventId: string;
  readonly eventCreatedAt: Date;
}

/**
 * Claims the first delivery of every lane before the second of any. The earliest delivery that remains unclaimed determines
 * when the lane is due next. The attempt goes to the URL that the endpoint has now. A delivery that another transaction deletes at
 * this moment is picked, but not claimed: it takes no place in its lane.
 *
 * To be run after the statement that locks the lanes: the snapshot must not be older than the locks.
 */
export const CLAIM_DELIVERIES = new Statement<
  ClaimLimits,
  ClaimedRow,
  Pick<LockedLane, 'endpointId' | 'room'>
>(
  `
  WITH lane AS MATERIALIZED (
         SELECT * FROM unnest($endpointId::uuid[], $room::integer[]) AS lane (endpoint_id, room) WHERE ${INDEXES_ONLY}
          LIMIT cardinality($endpointId)),
       candidate AS MATERIALIZED (
         SELECT lane.endpoint_id, room, id, due_at, rank
           FROM lane
           LEFT JOIN LATERAL (
                  SELECT id, due_at, row_number() OVER (ORDER BY due_at, id) AS rank
                    FROM webhook_delivery
                   WHERE endpoint_id = lane.endpoint_id AND claim_id IS NULL
                   ORDER BY due_at, id
                   LIMIT lane.room + 1) first ON true),
       picked AS MATERIALIZED (
         SELECT id FROM candidate WHERE rank <= room AND due_at <= now() ORDER BY rank, due_at LIMIT $limit),
       claimed AS (
         UPDATE webhook_delivery
            SET claim_id = gen_random_uuid(), attempts = attempts + 1, attempt_started_at = now(),
                lease_until = ${LEASE_UNTIL}, claimed_by = $worker,
                url = (SELECT url FROM webhook_endpoint WHERE id = endpoint_id)
          WHERE id = ANY (ARRAY(SELECT id FROM picked)) AND claim_id IS NULL
         RETURNING *),
       updated_lane AS (
         UPDATE webhook_lane SET in_flight = in_flight + state.claimed, next_due = state.next_due
           FROM (SELECT candidate.endpoint_id, count(claimed.id)::integer AS claimed,
                        min(candidate.due_at) FILTER (WHERE picked.id IS NULL) AS next_due
                   FROM candidate LEFT JOIN picked USING (id) LEFT JOIN claimed USING (id)
                  GROUP BY candidate.endpoint_id) state
          WHERE webhook_lane.endpoint_id = state.endpoint_id AND webhook_lane.endpoint_id = ANY ($endpointId))
  SELECT id, claim_id AS "claimId", endpoint_id AS "endpointId", url, attempts AS attempt,
         attempts_allowed AS "attemptsAllowed", event_id AS "eventId", event_created_at AS "eventCreatedAt",
         ${signingRevisionOf('endpoint_id')} AS "signingRevision"
    FROM claimed`,
);
