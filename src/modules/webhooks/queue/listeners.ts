import { notifyOf } from './notify-of.js';

/** Channel that is notified of clients that have new events and listeners. The payload is their IDs, separated by commas. */
export const LISTENERS_CHANNEL = 'webhook_listeners';

/**
 * Returns a query that notifies the listeners (module `webhook-stream`) of the clients in another query, which has the column
 * `client_id`. Without listeners, it costs one look at an empty table. The returned query has one row.
 */
export function notifyListeners(clients: string): string {
  return notifyOf(
    LISTENERS_CHANNEL,
    `SELECT DISTINCT client_id AS id FROM webhook_listener WHERE client_id IN (${clients})`,
  );
}
