/** Measures operation 5 with ten names, compared with plain Express and one SELECT. */
import pg from 'pg';
import { alternate } from './support/load.mjs';
import { report } from './support/report.mjs';
import { basic, openWorkbench } from './support/workbench.mjs';

const ROUNDS = Number(process.env.ROUNDS ?? 5);
const SECONDS = Number(process.env.SECONDS ?? 6);
const USERS = 10_000;
const ACCOUNTS_EACH = 8;
const NAMES = 10;

const bench = await openWorkbench();
try {
  const service = await bench.service();
  const credentials = service.credentials.production;
  const database = new pg.Client({ connectionString: service.databaseUrl });
  await database.connect();
  await database.query(
    `INSERT INTO detected_account (client_id, external_user_id, merchant_id, detected_at)
     SELECT $1, 'user-' || number, merchant.id, now()
       FROM generate_series(1, $2::int) number
       CROSS JOIN LATERAL (SELECT id FROM merchant ORDER BY md5(number::text || id::text) LIMIT $3) merchant`,
    [credentials.client_id, USERS, ACCOUNTS_EACH],
  );
  await database.query('VACUUM ANALYZE detected_account');
  const { rows } = await database.query('SELECT name FROM merchant ORDER BY id LIMIT $1', [NAMES]);
  await database.end();
  const body = JSON.stringify({ external_user_id: 'user-77', names: rows.map(({ name }) => name) });
  const bare = await bench.program('express-select.mjs', {
    DATABASE_URL: service.databaseUrl,
    CLIENT_ID: credentials.client_id,
  });
  const result = await alternate({
    rounds: ROUNDS,
    seconds: SECONDS,
    product: {
      url: `${service.baseUrl}/detected-accounts/search`,
      headers: { authorization: basic(credentials), 'content-type': 'application/json' },
      body,
    },
    comparison: { url: `${bare.baseUrl}/`, headers: { 'content-type': 'application/json' }, body },
  });
  report('search-detected-accounts', {
    title: `Operation 5 with ${NAMES} names, 32 connections, compared with plain Express and one SELECT`,
    goal: 'rate ratio at least 0.6',
    ...result,
  });
} finally {
  await bench.close();
}
