import { SECOND } from '../../../infrastructure/time/index.js';

/**
 * Consecutive failures after which an endpoint gets one attempt at a time, with a pause before each unless its last
 * success is recent.
 */
export const FAILURES_UNTIL_NARROW = 5;
/** Milliseconds between two attempts in a lane that keeps failing. */
export const PROBE_INTERVAL = SECOND;
/** Time after a success for which an endpoint is proven. */
const PROVEN_FOR = '1 day';
/** Seconds. An attempt takes at most 10; the rest allows for a slow settlement. */
const LEASE = 30;

/** Concurrent attempts to an endpoint of which nothing is known. */
export const START_WIDTH = 4;

/** SQL for the state of a lane. */
export const LANE = {
  /** Concurrent attempts that the endpoint can take, as far as is known. */
  width: `floor(COALESCE(adaptive_width, ${START_WIDTH}))::integer`,
  /** Whether attempts can start, apart from the lane's room. */
  isReady: 'not_before <= now() AND paused_at IS NULL',
  isProven: `((consecutive_failures < ${FAILURES_UNTIL_NARROW}
                AND last_success_at > now() - interval '${PROVEN_FOR}') IS TRUE)`,
} as const;

/** SQL for the end of a lease that begins now. */
export const LEASE_UNTIL = `now() + interval '${LEASE} seconds'`;

/** Channel that is notified of endpoints that have new deliveries. The payload is their IDs, separated by commas. */
export const LANES_CHANNEL = 'webhook_lanes';
/** IDs in one notification. PostgreSQL limits its payload to 8,000 bytes. */
const ENDPOINTS_PER_NOTIFICATION = 200;

/** Returns SQL that notifies the workers of the endpoints in a query with the column `endpoint_id`; a query with one row. */
export function notifyLanes(endpoints: string): string {
  return `SELECT count(pg_notify('${LANES_CHANNEL}', ids)) AS notifications
            FROM (SELECT string_agg(endpoint_id::text, ',') AS ids
                    FROM (SELECT endpoint_id, row_number() OVER () / ${ENDPOINTS_PER_NOTIFICATION} AS part
                            FROM (${endpoints}) endpoint) numbered
                   GROUP BY part) notification`;
}

/** SQL for the versions of a client's secrets that sign now. The first one is the active one. */
export function secretVersionsOf(clientId: string): string {
  return `(SELECT array_agg(version ORDER BY signs_from <= now() DESC, version DESC) FROM api_secret
            WHERE client_id = ${clientId} AND (accepted_until IS NULL OR accepted_until > now()))`;
}

/** First part of the advisory locks that show which workers are connected. The second part is `claimed_by`. */
export const WORKER_LOCK = 1_463_898_187;

/** SQL for the processes that have claimed deliveries and are not connected. */
export const ABSENT_WORKERS = `
  SELECT DISTINCT claimed_by FROM webhook_delivery
   WHERE lease_until IS NOT NULL AND claimed_by IS NOT NULL
     AND claimed_by NOT IN (SELECT objid::bigint FROM pg_locks
                             WHERE locktype = 'advisory' AND classid = ${WORKER_LOCK} AND objsubid = 2 AND granted
                               AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`;
