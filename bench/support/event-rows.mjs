import pg from 'pg';

const DAY = 86_400_000;

/**
 * Fills the partitions of the last days with events of one client, in the order of their positions. Every thirtieth event is a
 * `CARD_FAILED`, and each user has 20 events, except for `user-busy`, who has a tenth of all. Day by day, so that the days are
 * partitions as in a service that has run so long.
 */
export async function fillEvents(databaseUrl, { rows, days, clientId, end = new Date() }) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('SET synchronous_commit = off');
  const today = Math.floor(end.getTime() / DAY) * DAY;
  const span = end.getTime() - (today - (days - 1) * DAY);
  for (let day = days - 1; day >= 0; day -= 1) {
    const from = new Date(today - day * DAY);
    const to = new Date(Math.min(from.getTime() + DAY, end.getTime()));
    const count = Math.round((rows * (to - from)) / span);
    await client.query(
      `CREATE TABLE IF NOT EXISTS webhook_event_${from.toISOString().slice(0, 10).replaceAll('-', '')} PARTITION OF webhook_event
         FOR VALUES FROM ('${from.toISOString()}') TO ('${new Date(from.getTime() + DAY).toISOString()}')`,
    );
    await client.query(
      `INSERT INTO webhook_event (id, created_at, client_id, environment, event, session_id, external_user_id, body)
       SELECT gen_random_uuid(), $1::timestamptz + (number - 1) * ($2::timestamptz - $1::timestamptz) / $3::int, $4, 'development',
              event, session, external_user_id,
              convert_to(json_build_object('event', event, 'session_id', session, 'external_user_id', external_user_id, 'merchant',
                json_build_object('id', 16, 'name', 'Netflix'), 'data', json_build_object('card_id', md5(number::text), 'note',
                repeat('x', 120)), 'timestamp', 1769847330123 + number)::text, 'UTF8')
         FROM (SELECT number, gen_random_uuid() AS session,
                      CASE WHEN number % 30 = 0 THEN 'CARD_FAILED' ELSE 'CARD_UPDATED' END AS event,
                      CASE WHEN number % 10 = 0 THEN 'user-busy' ELSE 'user-' || $5::int || '-' || number / 20 END AS external_user_id
                 FROM generate_series(1, $3::int) number) numbers ORDER BY number`,
      [from, to, count, clientId, day],
    );
  }
  await client.query('VACUUM ANALYZE webhook_event');
  await client.end();
}
