import pg from 'pg';

const DAY = 86_400_000;
/** Number of other clients, each with fewer entries than the previous one. */
const CLIENTS = 200;

/**
 * Fills the request log with entries spread evenly over the last days. One client has a fifth of them, four in ten are
 * delivery attempts, sessions have a few entries each, and some users are much busier than others. Each day is filled
 * without indexes and then attached, which builds the indexes. Ten million rows take minutes.
 *
 * All values are derived from the row number, so every run has the same entries.
 */
export async function fillRequestLog(databaseUrl, { rows, days, bigClientId, end = new Date(), report }) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(`SET synchronous_commit = off; SET maintenance_work_mem = '1GB'; SET work_mem = '64MB'`);
  const today = Math.floor(end.getTime() / DAY) * DAY;
  // The last day ends at the current time and has as many entries per hour as the others.
  const span = (days - 1) * DAY + (end.getTime() - today);
  for (let day = days - 1; day >= 0; day -= 1) {
    const from = new Date(today - day * DAY);
    const to = new Date(Math.min(from.getTime() + DAY, end.getTime()));
    const count = Math.round((rows * (to.getTime() - from.getTime())) / span);
    await fillDay(client, { from, to, count, bigClientId, seed: day * rows });
    report?.(`${from.toISOString().slice(0, 10)}: ${count.toLocaleString('en')} entries`);
  }
  await client.query('ANALYZE request_log');
  const [{ entries }] = (await client.query('SELECT count(*)::int AS entries FROM request_log')).rows;
  await client.end();
  return entries;
}

async function fillDay(client, { from, to, count, bigClientId, seed }) {
  const name = `request_log_${from.toISOString().slice(0, 10).replaceAll('-', '')}`;
  await client.query(`DROP TABLE IF EXISTS ${name}`);
  await client.query(`CREATE TABLE ${name} (LIKE request_log INCLUDING DEFAULTS INCLUDING CONSTRAINTS)`);
  await client.query(
    `CREATE INDEX ON ${name} USING brin (id) WITH (pages_per_range = 32, autosummarize = on)`,
  );
  await client.query(
    `INSERT INTO ${name} (client_id, environment, created_at, type, method, path, url, event, status_code, latency_ms,
                          session_id, task_id, external_user_id, webhook_endpoint_id, webhook_event_id, attempt,
                          reason, dns_ms, connect_ms, tls_ms, first_byte_ms)
     SELECT client_id, 'production', created_at, type, 'POST',
            CASE WHEN type = 'request' THEN (ARRAY['/mcp/tokens/create', '/detected-accounts/search',
              '/session/create', '/session/extend'])[1 + (lot >> 8) % 4] END,
            CASE WHEN type = 'webhook' THEN 'https://hooks-' || left(client_id::text, 8) || '.example.com/merchants/'
              || (lot >> 9) % 3 || '?token=***' END,
            CASE WHEN type = 'webhook' THEN event END,
            status, 3 + (lot >> 11) % 400,
            CASE WHEN in_session THEN overlay(overlay(md5('session' || number / 600) PLACING '4' FROM 13) PLACING '8' FROM 17)::uuid END,
            CASE WHEN in_session AND type = 'webhook' THEN number / 600 END,
            'user-' || ((lot >> 13) % 30000 * ((lot >> 29) % 30000)) / 30000,
            CASE WHEN type = 'webhook' THEN md5(client_id::text || (lot >> 9) % 3)::uuid END,
            CASE WHEN type = 'webhook' THEN md5('event' || number)::uuid END,
            CASE WHEN type = 'webhook' THEN 1 + (status <> 200)::int END,
            CASE WHEN type = 'webhook' AND status <> 200 THEN CASE status WHEN 0 THEN 'TIMEOUT' ELSE 'NON_200' END END,
            CASE WHEN type = 'webhook' THEN 1 END, CASE WHEN type = 'webhook' THEN 8 END,
            CASE WHEN type = 'webhook' THEN 17 END, CASE WHEN type = 'webhook' THEN 30 + (lot >> 11) % 300 END
       FROM (
         SELECT number, lot,
                $1::timestamptz + (number - $4::bigint - 1) * ($2::timestamptz - $1::timestamptz) / $3::int AS created_at,
                CASE WHEN lot % 5 = 0 THEN $5::uuid
                     ELSE md5('client' || ((lot >> 5) % ${CLIENTS} * ((lot >> 17) % ${CLIENTS})) / ${CLIENTS})::uuid
                END AS client_id,
                CASE WHEN (lot >> 3) % 10 < 4 THEN 'webhook' ELSE 'request' END AS type,
                (lot >> 21) % 10 < 6 AS in_session,
                (ARRAY['CARD_UPDATED', 'CARD_UPDATED', 'CARD_UPDATED', 'AUTHENTICATED', 'AUTHENTICATED', 'CARD_FAILED',
                       'NEW_TRANSACTIONS_AVAILABLE', 'NEW_DETECTED_ACCOUNTS_AVAILABLE'])[1 + (lot >> 7) % 8] AS event,
                CASE WHEN (lot >> 33) % 100 < 95 THEN 200
                     WHEN (lot >> 3) % 10 < 4 THEN (ARRAY[500, 503, 404, 0])[1 + (lot >> 41) % 4]
                     ELSE (ARRAY[400, 400, 401, 429])[1 + (lot >> 41) % 4] END AS status
           FROM (SELECT number, hashint8extended(number, 7) & 9223372036854775807 AS lot
                   FROM generate_series($4::bigint + 1, $4::bigint + $3::int) number) lots
       ) entries`,
    [from, to, count, seed, bigClientId],
  );
  const end = new Date(from.getTime() + DAY);
  await client.query(
    `ALTER TABLE request_log ATTACH PARTITION ${name} FOR VALUES FROM ('${from.toISOString()}') TO ('${end.toISOString()}')`,
  );
}
