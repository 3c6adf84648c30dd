/** SQL for whether an `endpoint` gets events. Version 0.3.0, which knows no hidden endpoints, can enable one. */
export const IS_ENABLED = 'endpoint.disabled_at IS NULL AND endpoint.deleted_at IS NULL';

/** SQL for whether an `endpoint` gets an `event`. A disabled endpoint gets none. */
export const IS_SUBSCRIBED = `${IS_ENABLED}
  AND (endpoint.events IS NULL OR event.event = ANY (endpoint.events))`;

/** SQL for the organization of an endpoint. */
export const ORGANIZATION = '(SELECT organization_id FROM api_client WHERE api_client.id = client_id)';
