/**
 * Measures how long the service takes for the pages of a large organization: 1,000,000 users, and a request log of 10,000,000 entries in
 * 30 days, of which it has a fifth. Each page is requested by one browser, one after the other.
 *
 *     node --import ./scripts/ensure-build.mjs bench/dashboard-pages.mjs
 */
import { createHash } from 'node:crypto';
import { NestFactory } from '@nestjs/core';
import pg from 'pg';
import { AppModule } from '../dist/src/app.module.js';
import { loadConfiguration } from '../dist/src/infrastructure/config/index.js';
import { RequestLogRollupsService } from '../dist/src/modules/request-logs/rollups/request-log-rollups.service.js';
import { partsOf } from '../dist/src/modules/customers/identifier-parts.js';
import { openDashboard } from './support/dashboard-login.mjs';
import { percentile } from './support/load.mjs';
import { fillRequestLog } from './support/request-log-rows.mjs';
import { reportTable } from './support/report.mjs';
import { openWorkbench } from './support/workbench.mjs';

const ENTRIES = Number(process.env.ENTRIES ?? 10_000_000);
const USERS = Number(process.env.USERS ?? 1_000_000);
const REQUESTS = Number(process.env.REQUESTS ?? 60);
const WARM_UP = 5;
/** Milliseconds. */
const GOAL = 100;
const BATCH = 20_000;

const bench = await openWorkbench();
try {
  const service = await bench.service({
    BACKGROUND_WORK: 'off',
    LOG_LEVEL: 'error',
    DASHBOARD_REQUESTS_PER_MINUTE: '100000000',
  });
  const { client_id: clientId } = service.credentials.production;
  await fillRequestLog(service.databaseUrl, {
    rows: ENTRIES,
    days: 30,
    bigClientId: clientId,
    report: (message) => console.error(message),
  });
  await countEntries(service.settings);
  await fillUsers(service.databaseUrl, clientId);
  const page = await openDashboard(service);
  const [uuid, email] = [0, 1].map((kind) => identifierOf(USERS / 2 + kind));
  const pages = {
    'customers: newest': 'customers',
    'customers: part of an identifier that one user has': `customers?search=${uuid.slice(3, 20)}`,
    'customers: part of an email address': `customers?search=${email.slice(0, 9)}`,
    'customers: part that every third user has': 'customers?search=example.com',
    'customers: three letters': 'customers?search=a7f',
    'customers: two letters, no match': 'customers?search=%23%23',
    'customers: no match': 'customers?search=nobody-has-this',
    'request log and histogram, a day': 'request-logs?period=24h',
    'request log and histogram, 7 days': 'request-logs?period=7d',
    'request log and histogram, 30 days': 'request-logs?period=30d',
    'request log and histogram, 7 days, failed deliveries':
      'request-logs?period=7d&type=webhook&status_code=503',
    'request log and histogram, 7 days, one user': 'request-logs?period=7d&external_user_id=user-17',
    overview: undefined,
  };
  const rows = [];
  for (const [name, path] of Object.entries(pages)) {
    const times = [];
    for (let index = -WARM_UP; index < REQUESTS; index += 1) {
      const began = performance.now();
      await page(['/dashboard/production', path].filter(Boolean).join('/'));
      if (index >= 0) times.push(performance.now() - began);
    }
    const [p50, p95] = [percentile(times, 0.5), percentile(times, 0.95)];
    rows.push([name, `${p50.toFixed(1)} ms`, `${p95.toFixed(1)} ms`]);
    console.error(`${p95 < GOAL ? 'ok  ' : 'HIGH'} ${rows.at(-1).join('  ')}`);
  }
  reportTable('dashboard-pages', {
    title: `Pages of an organization with ${USERS.toLocaleString('en')} users, beside ${ENTRIES.toLocaleString('en')} entries of the request log`,
    goal: `p95 below ${GOAL} ms`,
    columns: ['page', 'p50', 'p95'],
    rows,
  });
} finally {
  await bench.close();
}

/** Returns an identifier in one of three forms: UUID, email address, number. */
function identifierOf(index) {
  const hex = createHash('sha256').update(String(index)).digest('hex');
  if (index % 3 === 0)
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  return index % 3 === 1 ? `${hex.slice(0, 12)}@example.com` : `user-${index}`;
}

/** Writes the rollups, as the job does every minute: pages count newer entries by themselves. */
async function countEntries(settings) {
  const app = await NestFactory.createApplicationContext(
    AppModule.register(loadConfiguration(settings), { backgroundWork: false }),
    { logger: ['error'] },
  );
  const rollups = app.get(RequestLogRollupsService);
  await rollups.update();
  await rollups.rebuild({});
  await app.close();
}

async function fillUsers(databaseUrl, clientId) {
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  await database.query(
    `SET synchronous_commit = off; SET maintenance_work_mem = '1GB'; DROP INDEX customer_search_parts_index`,
  );
  for (let first = 0; first < USERS; first += BATCH) {
    const users = Array.from({ length: Math.min(BATCH, USERS - first) }, (_, offset) =>
      identifierOf(first + offset),
    );
    await database.query(
      `INSERT INTO customer SELECT $1, id, now() - number * interval '2 seconds' FROM unnest($2::text[]) WITH ORDINALITY AS seen (id, offset_)
        CROSS JOIN LATERAL (SELECT offset_ + $3::int AS number) position`,
      [clientId, users, first],
    );
    await database.query(
      `INSERT INTO customer_search SELECT $1, entry ->> 0, ARRAY(SELECT jsonb_array_elements_text(entry -> 1)::int)
         FROM jsonb_array_elements($2::jsonb) entry`,
      [clientId, JSON.stringify(users.map((user) => [user, partsOf(clientId, user)]))],
    );
    await database.query(
      `INSERT INTO customer_failure SELECT $1, id, date_trunc('day', now()) - interval '1 day', 3 FROM unnest($2::text[]) id`,
      [clientId, users.filter((_, index) => index % 10 === 0)],
    );
  }
  await database.query('CREATE INDEX customer_search_parts_index ON customer_search USING gin (parts)');
  await database.query('VACUUM ANALYZE customer, customer_search, customer_failure');
  await database.query('CHECKPOINT');
  await database.end();
}
