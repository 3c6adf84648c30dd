import { hasCome } from '../../../../infrastructure/database/index.js';
import { SECOND } from '../../../../infrastructure/time/index.js';
import { WIDTH_RULE } from '../endpoint-width.js';

/** Milliseconds between two attempts in a lane that keeps failing. */
export const PROBE_INTERVAL = SECOND;
/** Time after a success for which an endpoint is proven. */
const PROVEN_FOR = '1 day';
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

/** Channel that is notified of endpoints that have new deliveries. The payload is their IDs, separated by commas. */
export const LANES_CHANNEL = 'webhook_lanes';

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
