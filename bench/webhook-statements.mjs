/**
 * Counts the statements and round trips of an event in `pg_stat_statements`, at a steady rate. The counts do not depend on what else
 * the machine does, as long as it keeps up with the rate.
 *
 *     node bench/webhook-statements.mjs [--rate 50] [--seconds 20] [--keep]
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { request } from 'undici';
import { restartPostgres } from './support/postgres.mjs';
import { freePort, start } from './support/processes.mjs';
import { reportTable } from './support/report.mjs';
import { cpuOf } from './support/usage.mjs';
import { createServiceToken } from './support/webhooks.mjs';
import { basic, openWorkbench } from './support/workbench.mjs';

const { values: options } = parseArgs({
  options: {
    rate: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '20' },
    keep: { type: 'boolean', default: false },
  },
});
const RATE = Number(options.rate);
const EVENTS = RATE * Number(options.seconds);
const USER = 'user-8f3a';
const RECEIVER = new URL('./baselines/webhook-receiver.mjs', import.meta.url).pathname;

const bench = await openWorkbench();
const receiverPort = await freePort();
const receiver = await start(RECEIVER, {
  environment: { PORT: String(receiverPort), JOURNAL: join(bench.directory, 'arrivals.txt') },
  ready: 'ready',
});
const service = await bench.service({ WEBHOOK_TARGETS: 'any' });
const database = new pg.Pool({ connectionString: service.databaseUrl, max: 2 });
database.on('error', () => undefined);
const { client_id: clientId } = service.credentials.development;

async function post(path, authorization, body) {
  const response = await request(service.baseUrl + path, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const result = await response.body.json();
  if (response.statusCode !== 200) throw new Error(JSON.stringify(result));
  return result;
}

async function publishSteadily(count, authorization, sessionId) {
  const work = [];
  const begin = performance.now();
  for (let index = 0; index < count; index += 1) {
    const due = begin + (index * 1000) / RATE;
    if (due > performance.now()) await pause(due - performance.now());
    const at = performance.now();
    const event = {
      event: 'CARD_UPDATED',
      client_id: clientId,
      external_user_id: USER,
      session_id: sessionId,
      task_id: 25_605,
      merchant_id: 16,
      data: { card_id: '81n9al10a0ayn13' },
    };
    work.push(post('/events', authorization, event).then(() => performance.now() - at));
  }
  const times = (await Promise.all(work)).toSorted((left, right) => left - right);
  while ((await database.query('SELECT FROM webhook_delivery LIMIT 1')).rowCount > 0) await pause(50);
  return times[Math.floor(times.length / 2)];
}

const nameOf = (query) => query.replaceAll(/\s+/g, ' ').trim().slice(0, 110);

try {
  await database.query("ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'");
  const { rows: settings } = await database.query("SELECT current_setting('data_directory') AS directory");
  await restartPostgres(settings[0].directory);
  await pause(2_000);
  await database.query('CREATE EXTENSION pg_stat_statements');
  const authorization = `Bearer ${await createServiceToken(service.settings)}`;
  const { session } = await post('/session/create', basic(service.credentials.development), {
    type: 'link',
    external_user_id: USER,
  });
  await database.query(
    'INSERT INTO webhook_endpoint (id, client_id, url, created_at) VALUES ($1, $2, $3, now())',
    [randomUUID(), clientId, `http://127.0.0.1:${receiverPort}/0`],
  );
  await publishSteadily(RATE * 3, authorization, session);
  await database.query('SELECT pg_stat_statements_reset()');
  const cpu = cpuOf([service.pid]);
  const accepted = await publishSteadily(EVENTS, authorization, session);
  const used = (cpuOf([service.pid]) - cpu) / EVENTS;
  const { rows } = await database.query(
    `SELECT query, sum(calls)::float / $1 AS calls FROM pg_stat_statements
      WHERE query NOT LIKE '%pg_stat_statements%' AND query NOT LIKE 'SELECT FROM webhook_delivery LIMIT%'
      GROUP BY query HAVING sum(calls) > $1 / 200.0 ORDER BY calls DESC`,
    [EVENTS],
  );
  const all = rows.reduce((sum, { calls }) => sum + calls, 0);
  reportTable('webhook-statements', {
    title: `Statements per event at ${RATE} events/s, one process`,
    goal: '2.5 in total',
    columns: ['statement', 'per event'],
    rows: [
      ...rows.map(({ query, calls }) => [`\`${nameOf(query).replaceAll('|', '\\|')}\``, calls.toFixed(3)]),
      ['**all**', all.toFixed(2)],
      ['`POST /events`, p50; CPU time of the process', `${accepted.toFixed(1)} ms; ${used.toFixed(2)} ms`],
    ],
    keep: options.keep,
  });
} finally {
  await database.end();
  await receiver.stop();
  await bench.close();
}
