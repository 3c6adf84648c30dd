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

/** SQL for whether an `endpoint` gets an `event`. A disabled endpoint gets none. */
export const IS_SUBSCRIBED = `endpoint.disabled_at IS NULL
  AND (endpoint.events IS NULL OR event.event = ANY (endpoint.events))`;

/** SQL for the end of a lease that begins now. */
export const LEASE_UNTIL = `now() + interval '${LEASE} seconds'`;

/** Channel that is notified of endpoints that have new deliveries. The payload is their IDs, separated by commas. */
export const LANES_CHANNEL = 'webhook_lanes';
/** First part of the advisory locks that show which workers are connected. The second part is `claimed_by`. */
export const WORKER_LOCK = 1_463_898_187;
