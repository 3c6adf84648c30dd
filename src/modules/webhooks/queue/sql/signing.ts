/** SQL for the revision of the own keys and headers of an endpoint. */
export function signingRevisionOf(endpointId: string): string {
  return `(SELECT signing_revision FROM webhook_endpoint WHERE webhook_endpoint.id = ${endpointId})`;
}

/** SQL for the versions of a client's secrets that sign now. The first one is the active one. */
export function secretVersionsOf(clientId: string): string {
  return `(SELECT array_agg(version ORDER BY signs_from <= now() DESC, version DESC) FROM api_secret
            WHERE client_id = ${clientId} AND (accepted_until IS NULL OR accepted_until > now()))`;
}
