import { hasCome } from '../../../../infrastructure/database/index.js';
import { SECOND } from '../../../../infrastructure/time/index.js';

/** SQL for whether an `endpoint` gets events. Version 0.3.0, which knows no hidden endpoints, can enable one. */
export const IS_ENABLED = 'endpoint.disabled_at IS NULL AND endpoint.deleted_at IS NULL';

/** SQL for whether an `endpoint` gets an `event`. A disabled endpoint gets none. */
export const IS_SUBSCRIBED = `${IS_ENABLED}
  AND (endpoint.events IS NULL OR event.event = ANY (endpoint.events))`;

/** SQL for the organization of an endpoint. */
export const ORGANIZATION = '(SELECT organization_id FROM api_client WHERE api_client.id = client_id)';

/** SQL for the revision of the own keys and headers of an endpoint. */
export function signingRevisionOf(endpointId: string): string {
  return `(SELECT signing_revision FROM webhook_endpoint WHERE webhook_endpoint.id = ${endpointId})`;
}

/** SQL for the versions of a client's secrets that sign now. The first one is the active one. */
export function secretVersionsOf(clientId: string): string {
  return `(SELECT array_agg(version ORDER BY signs_from <= now() DESC, version DESC) FROM api_secret
            WHERE client_id = ${clientId} AND (accepted_until IS NULL OR accepted_until > now()))`;
}

/** Seconds. An attempt takes at most 10; the rest allows for a slow settlement. */
const LEASE = 30;

/** SQL for whether a lease has ended. */
export const IS_LEASE_OVER = hasCome('claimed.lease_until', LEASE * SECOND);

/** SQL for the end of a lease that begins now. */
export const LEASE_UNTIL = `now() + interval '${LEASE} seconds'`;

/**
 * A condition, which is true, of the first part of a statement that claims or settles. PostgreSQL evaluates it once, when it begins to
 * plan the statement, and then plans without sequential scans until the transaction ends. The queue is often empty at that time. For an
 * empty table it would choose a sequential scan, and keep that plan while a long queue builds up:
 * docs/decisions/0032-plans-for-a-long-queue.md.
 */
export const INDEXES_ONLY = 'indexes_only()';
