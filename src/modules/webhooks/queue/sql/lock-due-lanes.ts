import type { DeliveryLane } from '../../delivery.js';
import { WIDTH_RULE } from '../endpoint-width.js';
import { INDEXES_ONLY } from './statement-parts.js';
import { LANE } from './lane.js';
import { Statement } from '../../../../infrastructure/database/index.js';

/** Limits of one search for lanes in which attempts can start. */
export interface LaneLimits {
  readonly maxWidth: number;
  /** Maximum number of unproven lanes. After a failure, such a lane has room for one attempt at a time. */
  readonly maxUnproven: number;
  readonly fullOrganizations: readonly string[];
  /** Endpoints that have new deliveries, although their lanes may not say so. */
  readonly notified: readonly string[];
}

export interface LockedLane extends DeliveryLane {
  readonly endpointId: string;
  readonly isIdle: boolean;
  /** Deliveries that can be claimed in addition to those in flight. */
  readonly room: number;
}

const LANES_PER_CLAIM = 64;

const IS_DUE = `(next_due <= now() OR endpoint_id = ANY ($notified)) AND ${LANE.isReady}
             AND (organization_id = ANY ($fullOrganizations)) IS NOT TRUE`;
const PROVEN_WIDTH = `LEAST(${LANE.width}, $maxWidth)`;
const UNPROVEN_WIDTH = `CASE consecutive_failures WHEN 0 THEN LEAST(${LANE.width}, $maxWidth, ${WIDTH_RULE.startWidth}) ELSE 1 END`;

/**
 * Locks lanes with due deliveries and free room: first the proven ones, then the others, idle before busy. Within each
 * group, the proven lane that has been due for longest comes first, and the unproven one whose last attempt ended first: the backlogs of
 * endpoints that do not respond must not keep others waiting. Also locks lanes from the notifications, which may have no
 * room. Lanes that another process has locked are missing.
 */
export const LOCK_DUE_LANES = new Statement<LaneLimits, LockedLane>(
  `
  WITH proven AS MATERIALIZED (
         SELECT endpoint_id, organization_id, in_flight = 0 AS is_idle, ${PROVEN_WIDTH} - in_flight AS room
           FROM webhook_lane
          WHERE ${INDEXES_ONLY} AND ${IS_DUE} AND in_flight < ${PROVEN_WIDTH} AND ${LANE.isProven}
          ORDER BY next_due NULLS LAST
          LIMIT ${LANES_PER_CLAIM}
            FOR UPDATE SKIP LOCKED),
       unproven AS MATERIALIZED (
         SELECT endpoint_id, organization_id, in_flight = 0 AS is_idle, ${UNPROVEN_WIDTH} - in_flight AS room
           FROM webhook_lane
          WHERE ${IS_DUE} AND in_flight < ${UNPROVEN_WIDTH} AND NOT ${LANE.isProven}
          ORDER BY in_flight > 0, GREATEST(last_success_at, last_failure_at) NULLS FIRST, next_due NULLS LAST
          LIMIT LEAST($maxUnproven, ${LANES_PER_CLAIM})
            FOR UPDATE SKIP LOCKED),
       full_lane AS MATERIALIZED (
         SELECT endpoint_id
           FROM webhook_lane
          WHERE endpoint_id = ANY ($notified)
            AND endpoint_id NOT IN (SELECT endpoint_id FROM proven UNION ALL SELECT endpoint_id FROM unproven)
          ORDER BY endpoint_id
            FOR UPDATE SKIP LOCKED)
  SELECT endpoint_id AS "endpointId", organization_id AS "organizationId", is_idle AS "isIdle", room,
         true AS "isProven"
    FROM proven
  UNION ALL
  SELECT endpoint_id, organization_id, is_idle, room, false FROM unproven
  UNION ALL
  SELECT endpoint_id, NULL, false, 0, false FROM full_lane`,
);
