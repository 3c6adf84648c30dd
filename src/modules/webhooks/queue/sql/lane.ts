import { hasCome } from '../../../../infrastructure/database/index.js';
import { SECOND } from '../../../../infrastructure/time/index.js';
import { WIDTH_RULE } from '../endpoint-width.js';

/** Milliseconds between two attempts in a lane that keeps failing. */
export const PROBE_INTERVAL = SECOND;
/** Time after a success for which an endpoint is proven. */
const PROVEN_FOR = '1 day';
/** Seconds. An attempt takes at most 10; the rest allows for a slow settlement. */
const LEASE = 30;
/** IDs in one notification. PostgreSQL limits its payload to 8,000 bytes. */
const ENDPOINTS_PER_NOTIFICATION = 200;

/**
 * Whether the client paused the endpoint, or the service disabled it. A reserved lane, whose endpoint has a key or headers of its own,
 * is paused without an end when it is not: release 0.3.0 does not know these, and must leave its deliveries alone.
 */
const IS_PAUSED = "(paused_at < 'infinity') IS TRUE";

/**
 * SQL for the state of a lane: the row of an endpoint that says how many attempts are in flight and when its next delivery is
 * due. The width of a lane is the number of attempts that may be in flight, and its room is how many more can start.
 * docs/decisions/0011-delivery-engine.md gives the reasons.
 */
export const LANE = {
  /** Concurrent attempts that the endpoint can take, as far as is known. */
  width: `floor(COALESCE(adaptive_width, ${WIDTH_RULE.startWidth}))::integer`,
  /** Whether attempts can start, apart from the lane's room. */
  isReady: `${hasCome('not_before', PROBE_INTERVAL)} AND NOT (${IS_PAUSED})`,
  isPaused: IS_PAUSED,
  isProven: `((consecutive_failures < ${WIDTH_RULE.failuresUntilNarrow}
                AND last_success_at > now() - interval '${PROVEN_FOR}') IS TRUE)`,
} as const;

/** SQL for whether an `endpoint` gets events. Version 0.3.0, which knows no hidden endpoints, can enable one. */
export const IS_ENABLED = 'endpoint.disabled_at IS NULL AND endpoint.deleted_at IS NULL';

/** SQL for whether an `endpoint` gets an `event`. A disabled endpoint gets none. */
export const IS_SUBSCRIBED = `${IS_ENABLED}
  AND (endpoint.events IS NULL OR event.event = ANY (endpoint.events))`;

/** SQL for whether a lease has ended. */
export const IS_LEASE_OVER = hasCome('claimed.lease_until', LEASE * SECOND);

/** SQL for the end of a lease that begins now. */
export const LEASE_UNTIL = `now() + interval '${LEASE} seconds'`;

/** SQL for the organization of an endpoint. */
export const ORGANIZATION = '(SELECT organization_id FROM api_client WHERE api_client.id = client_id)';

/**
 * A condition, which is true, of the first part of a statement that claims or settles. PostgreSQL evaluates it once, when it begins to
 * plan the statement, and then plans without sequential scans until the transaction ends. The queue is often empty at that time. For an
 * empty table it would choose a sequential scan, and keep that plan while a long queue builds up:
 * docs/decisions/0032-plans-for-a-long-queue.md.
 */
export const INDEXES_ONLY = 'indexes_only()';

/** Channel that is notified of endpoints that have new deliveries. The payload is their IDs, separated by commas. */
export const LANES_CHANNEL = 'webhook_lanes';
/** First part of the advisory locks that show which workers are connected. The second part is `claimed_by`. */
export const WORKER_LOCK = 1_463_898_187;

/**
 * Returns a query that notifies the workers of the endpoints in another query, which has the column `endpoint_id`. The
 * returned query has one row.
 */
export function notifyLanes(endpoints: string): string {
  return `SELECT count(pg_notify('${LANES_CHANNEL}', ids)) AS notifications
            FROM (SELECT string_agg(endpoint_id::text, ',') AS ids
                    FROM (SELECT endpoint_id, row_number() OVER () / ${ENDPOINTS_PER_NOTIFICATION} AS part
                            FROM (${endpoints}) endpoint) numbered
                   GROUP BY part) notification`;
}

/** SQL for the revision of the own keys and headers of an endpoint. */
export function signingRevisionOf(endpointId: string): string {
  return `(SELECT signing_revision FROM webhook_endpoint WHERE webhook_endpoint.id = ${endpointId})`;
}

/** SQL for the versions of a client's secrets that sign now. The first one is the active one. */
export function secretVersionsOf(clientId: string): string {
  return `(SELECT array_agg(version ORDER BY signs_from <= now() DESC, version DESC) FROM api_secret
            WHERE client_id = ${clientId} AND (accepted_until IS NULL OR accepted_until > now()))`;
}
