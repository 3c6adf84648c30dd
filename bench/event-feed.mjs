/**
 * Measures the event feed: pages of a client with a million events beside the same SQL through `pg`, the memory and the database
 * connections of requests that wait, and publishing beside them.
 *
 * `node bench/event-feed.mjs --only pages,waiting`
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { Pool } from 'undici';
import { fillEvents } from './support/event-rows.mjs';
import { latenciesOf, percentile } from './support/load.mjs';
import { reportTable } from './support/report.mjs';
import { cpuOf } from './support/usage.mjs';
import { createServiceToken } from './support/webhooks.mjs';
import { basic, openWorkbench } from './support/workbench.mjs';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: 'pages,waiting' },
    events: { type: 'string', default: '1000000' },
    requests: { type: 'string', default: '300' },
    keep: { type: 'boolean', default: false },
  },
});
const [EVENTS, REQUESTS] = [options.events, options.requests].map(Number);
const parts = options.only.split(',');
const DAYS = 30;
const WARM_UP = 40;
/** Requests of one client that can wait at the same time. */
const PER_CLIENT = 50;
const READERS = 500;
const ROUNDS = 3;
/** Events per second while publishing is measured. */
const RATE = 50;
const SECONDS = 5;

const bench = await openWorkbench({ databaseUrl: process.env.BENCH_DATABASE });
const milliseconds = (value) => `${value.toFixed(1)} ms`;

try {
  if (parts.includes('pages')) await pages();
  if (parts.includes('waiting')) await waitingReaders();
} finally {
  await bench.close();
}

/** Alternates the functions, so that a slower machine affects all of them equally. @returns their times, sorted */
async function alternate(...works) {
  const times = works.map(() => []);
  for (let round = 0; round < WARM_UP + REQUESTS; round += 1) {
    for (const [index, work] of works.entries()) {
      const before = performance.now();
      await work();
      if (round >= WARM_UP) times[index].push(performance.now() - before);
    }
  }
  return times.map((each) => each.toSorted((left, right) => left - right));
}

async function pages() {
  const service = await bench.service({ BACKGROUND_WORK: 'off', LOG_LEVEL: 'error' });
  const { development } = service.credentials;
  const clientId = development.client_id;
  await fillEvents(service.databaseUrl, { rows: EVENTS, days: DAYS, clientId });
  const database = new pg.Pool({ connectionString: service.databaseUrl, max: 1 });
  database.on('error', () => undefined);
  const client = new Pool(service.baseUrl);
  const headers = { authorization: basic(development) };
  const page = async (parameters) => {
    const path = `/webhook-events?${new URLSearchParams(parameters)}`;
    const { statusCode, body } = await client.request({ path, method: 'GET', headers });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`${path} responded ${statusCode}: ${text}`);
    return JSON.parse(text);
  };
  const sql = async (position, limit, { event, external_user_id: user } = {}) => {
    const { rows } = await database.query(
      `SELECT id, created_at, position, event, body FROM webhook_event
        WHERE client_id = $1 AND NOT is_test AND position > $2
          ${event ? 'AND event = $4' : ''} ${user ? 'AND external_user_id = $4' : ''}
        ORDER BY position LIMIT $3`,
      [clientId, position, limit, ...[event ?? user].filter(Boolean)],
    );
    return rows;
  };
  const bounds = await database.query(
    'SELECT min(position)::bigint AS first, max(position)::bigint AS last FROM webhook_event WHERE client_id = $1',
    [clientId],
  );
  const [first, last] = [bounds.rows[0].first, bounds.rows[0].last].map(Number);
  /** Returns a cursor after a share of all events. */
  const cursorAt = async (share, filter) => {
    const place = Math.round(first + (last - first) * share);
    const { rows } = await database.query(
      'SELECT created_at FROM webhook_event WHERE client_id = $1 AND position = $2',
      [clientId, place],
    );
    const { data, next_cursor: cursor } = await page({
      start: rows[0].created_at.toISOString(),
      limit: '1',
      ...filter,
    });
    const found = await database.query('SELECT position FROM webhook_event WHERE id = $1', [data[0]?.id]);
    return { cursor, position: Number(found.rows[0]?.position ?? last) };
  };
  const cases = [];
  const user = { external_user_id: 'user-14-700' };
  for (const limit of [25, 100])
    for (const share of [0.001, 0.5, 0.999])
      cases.push([`${limit} events after ${(share * 100).toFixed(1)} % of all`, { share, limit }]);
  cases.push(
    ['end', { share: 1, limit: 25 }],
    ['event, every 30th', { share: 0.5, limit: 25, filter: { event: 'CARD_FAILED' } }],
    ['external_user_id, a tenth', { share: 0.5, limit: 25, filter: { external_user_id: 'user-busy' } }],
    ['external_user_id, 20 events', { share: 0.5, limit: 25, filter: user }],
  );
  const postgres = Number(
    readFileSync(join(bench.directory, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0],
  );
  /** Returns the CPU time of the service and of PostgreSQL, which hardly depends on how busy the machine is. */
  const cpuOfEach = async (...works) => {
    const used = [];
    for (const [index, work] of works.entries()) {
      const pids = [postgres, ...(index === 0 ? [service.pid] : [])];
      const before = cpuOf(pids);
      for (let count = 0; count < REQUESTS; count += 1) await work();
      used.push((cpuOf(pids) - before) / REQUESTS);
    }
    return used;
  };
  const rows = [];
  for (const [label, { share, limit, filter }] of cases) {
    const { cursor, position } = await cursorAt(share, filter);
    const [product, comparison] = await alternate(
      () => page({ cursor, limit: String(limit), ...filter }),
      () => sql(position, limit + 1, filter),
    );
    const [ours, theirs] = [product, comparison].map((times) => times[times.length >> 1]);
    const p99 = product[Math.floor(product.length * 0.99)];
    const cpu = await cpuOfEach(
      () => page({ cursor, limit: String(limit), ...filter }),
      () => sql(position, limit + 1, filter),
    );
    rows.push([
      label,
      ...[ours, p99, theirs, ours - theirs].map(milliseconds),
      ...cpu.map((each) => `${each.toFixed(2)} ms`),
    ]);
    console.error(rows.at(-1).join('  '));
  }
  reportTable('event-feed-pages', {
    title: `Event feed: a page for a client with ${EVENTS.toLocaleString('en')} events in ${DAYS} days, one client over HTTP`,
    goal: 'p50 at most 2 ms above the same SQL through `pg`',
    columns: [
      'page',
      'p50',
      'p99',
      'SQL p50',
      'difference of p50',
      'CPU time',
      'CPU time of PostgreSQL for the SQL',
    ],
    rows,
    keep: options.keep,
  });
  await client.close();
  await database.end();
}

/** The memory and connections of readers who wait, and others beside them. */
async function waitingReaders() {
  const memoryFile = join(bench.directory, 'memory');
  const service = await bench.service(
    { LOG_LEVEL: 'error', MEMORY_FILE: memoryFile, MCP_TOKEN_REQUESTS_PER_MINUTE: '100000000' },
    [
      '--expose-gc',
      '--max-semi-space-size=8',
      '--import',
      new URL('support/report-memory.mjs', import.meta.url).pathname,
    ],
  );
  const { development } = service.credentials;
  const readers = Array.from({ length: READERS / PER_CLIENT / 2 }, (_, index) =>
    createOrganization(service, `Reader ${index}`),
  ).flatMap(({ development: one, production: other }) => [one, other]);
  const token = await createServiceToken(service.settings);
  const database = new pg.Pool({ connectionString: service.databaseUrl, max: 1 });
  database.on('error', () => undefined);

  const memory = async () => {
    rmSync(memoryFile, { force: true });
    process.kill(service.pid, 'SIGUSR2');
    while (!existsSync(memoryFile)) await pause(20);
    return Number(readFileSync(memoryFile, 'utf8'));
  };
  const connections = async () => {
    const { rows } = await database.query(
      `SELECT count(*)::integer AS open, count(*) FILTER (WHERE state <> 'idle')::integer AS busy FROM pg_stat_activity
        WHERE application_name LIKE 'merchant-connectivity-service%'`,
    );
    return rows[0];
  };
  const stored = async () => {
    const { rows } = await database.query('SELECT count(*)::integer AS count FROM webhook_listener');
    return rows[0].count;
  };
  const publishing = {
    url: `${service.baseUrl}/events`,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      client_id: development.client_id,
      event: 'NEW_TRANSACTIONS_AVAILABLE',
      external_user_id: 'user-1',
      merchant_id: 16,
    }),
  };
  const creating = {
    url: `${service.baseUrl}/mcp/tokens/create`,
    headers: { authorization: basic(development), 'content-type': 'application/json' },
    body: JSON.stringify({ external_user_id: 'user-1' }),
  };
  const beside = async () => {
    const cpu = cpuOf([service.pid]);
    const publications = await latenciesOf(publishing, { rate: RATE, seconds: SECONDS });
    const used = (cpuOf([service.pid]) - cpu) / publications.length;
    return {
      cpu: used,
      publish: publications,
      create: await latenciesOf(creating, { rate: RATE, seconds: SECONDS }),
    };
  };

  /** Keeps so many requests waiting until it is ended: one that returns an empty page is sent again. */
  const hold = async () => {
    const pool = new Pool(service.baseUrl, {
      connections: READERS,
      headersTimeout: 60_000,
      bodyTimeout: 60_000,
    });
    let isHeld = true;
    const work = readers.flatMap((reader) =>
      Array.from({ length: PER_CLIENT }, async () => {
        const headers = { authorization: basic(reader) };
        while (isHeld) {
          const response = await pool
            .request({ path: '/webhook-events?wait=20', method: 'GET', headers })
            .catch(() => undefined);
          await response?.body.dump();
          if (isHeld && response?.statusCode !== 200) await pause(100);
        }
      }),
    );
    while ((await stored()) < READERS * 0.98) await pause(100);
    return async () => {
      isHeld = false;
      await pool.destroy();
      await Promise.all(work);
      while ((await stored()) > 0) await pause(100);
    };
  };

  // Each reader once, so that caches and pools are filled.
  await (
    await hold()
  )();
  await beside();
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await pause(1_000);
    const alone = await beside();
    const [before, openBefore] = [await memory(), await connections()];
    const end = await hold();
    await pause(1_000);
    const [after, held, waiting] = [await memory(), await connections(), await stored()];
    const together = await beside();
    await end();
    rounds.push({
      memory: (after - before) / waiting / 1_024,
      opened: held.open - openBefore.open,
      busy: held.busy,
      waiting,
      cpu: together.cpu / alone.cpu,
      alone,
      together,
    });
    console.error(JSON.stringify({ ...rounds.at(-1), alone: undefined, together: undefined }));
  }
  const median = (values) => values.toSorted((left, right) => left - right)[values.length >> 1];
  const of = (get) => median(rounds.map(get));
  const latency = (when, what, share) => of((round) => percentile(round[when][what], share));
  const line = (label, what, share) => [
    label,
    milliseconds(latency('together', what, share)),
    milliseconds(latency('alone', what, share)),
    (latency('together', what, share) / latency('alone', what, share)).toFixed(2),
  ];
  reportTable('event-feed-waiting', {
    title: `Event feed: ${READERS} requests that wait, of ${readers.length} clients`,
    goal: 'at most 20 KB each, no database connection each; others as without them',
    columns: ['what', 'with them', 'without', 'ratio'],
    rows: [
      [
        'memory of the process for each, after a collection',
        `${of((round) => round.memory).toFixed(1)} KB`,
        '',
        '',
      ],
      [
        'connections to the database that they opened; busy',
        `${of((round) => round.opened)}; ${of((round) => round.busy)}`,
        '',
        '',
      ],
      line(`publishing ${RATE}/s for another client, p50`, 'publish', 0.5),
      line(`publishing ${RATE}/s for another client, p95`, 'publish', 0.95),
      ['CPU time of the process per event', '', '', of((round) => round.cpu).toFixed(2)],
      line(`operation 1 of another client at ${RATE}/s, p95`, 'create', 0.95),
    ],
    keep: options.keep,
  });
  await database.end();
}

function createOrganization(service, name) {
  const cli = new URL('../dist/src/cli/main.js', import.meta.url).pathname;
  const email = `${name.replaceAll(' ', '-').toLowerCase()}@example.com`;
  const words = ['organization', 'create', '--name', name, '--owner-email', email, '--owner-name', name];
  return JSON.parse(
    execFileSync(process.execPath, [cli, ...words], {
      env: { ...process.env, ...service.settings },
      encoding: 'utf8',
    }),
  );
}
