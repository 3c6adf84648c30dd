/** Channel that is notified of clients that have new events and listeners. The payload is the ID of one client. */
export const LISTENERS_CHANNEL = 'webhook_listeners';

/**
 * Returns a query that notifies the listeners (module `webhook-stream`) of the clients in another query, which has the column
 * `client_id`. Without listeners, it costs one look at an empty table. The returned query has one row. PostgreSQL sends equal
 * notifications of a transaction once.
 */
export function notifyListeners(clients: string): string {
  return `SELECT count(pg_notify('${LISTENERS_CHANNEL}', client_id::text)) AS notifications
            FROM webhook_listener WHERE client_id IN (${clients})`;
}
