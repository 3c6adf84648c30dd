/** IDs in one notification. PostgreSQL limits its payload to 8,000 bytes. */
const IDS_PER_NOTIFICATION = 200;

/**
 * Returns a query that sends the IDs in another query, which has the column `id`, to a channel: separated by commas, in as
 * many notifications as necessary. The returned query has one row.
 */
export function notifyOf(channel: string, ids: string): string {
  return `SELECT count(pg_notify('${channel}', ids)) AS notifications
            FROM (SELECT string_agg(id::text, ',') AS ids
                    FROM (SELECT id, row_number() OVER () / ${IDS_PER_NOTIFICATION} AS part FROM (${ids}) each) numbered
                   GROUP BY part) notification`;
}
