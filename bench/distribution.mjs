/**
 * Compares a request log that Citus distributes to two workers with a plain one, both on the same PostgreSQL: operation 1, writes,
 * pages and entries by ID.
 *
 * CITUS_BINARIES is the folder of a PostgreSQL into which Citus is installed, such as /usr/lib/postgresql/15/bin.
 */
import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { startCitusCluster } from '../test/support/database/citus-cluster.mjs';
import { accessToken } from './support/dashboard-login.mjs';
import { alternate } from './support/load.mjs';
import { fillRequestLog } from './support/request-log-rows.mjs';
import { reportTable } from './support/report.mjs';
import { basic, openWorkbench } from './support/workbench.mjs';

const { CITUS_BINARIES: binaries } = process.env;
if (!binaries) throw new Error('Set CITUS_BINARIES to the folder of a PostgreSQL that has Citus.');
const ENTRIES = Number(process.env.ENTRIES ?? 10_000_000);
const ROUNDS = Number(process.env.ROUNDS ?? 6);
const SECONDS = Number(process.env.SECONDS ?? 5);
const REQUESTS = Number(process.env.REQUESTS ?? 200);
const DAYS = 30;
const DAY = 86_400_000;
const WARM_UP = 20;
const CLI = new URL('../dist/src/cli/main.js', import.meta.url).pathname;
const WRITER = new URL('support/log-writer.mjs', import.meta.url).pathname;
const UNLIMITED = {
  MCP_TOKEN_REQUESTS_PER_MINUTE: '100000000',
  DASHBOARD_REQUESTS_PER_MINUTE: '100000000',
  BACKGROUND_WORK: 'off',
};
const SETTINGS = { shared_buffers: '512MB', max_wal_size: '4GB' };

const run = promisify(execFile);
const directory = mkdtempSync(join(tmpdir(), 'bench-distribution-'));
chmodSync(directory, 0o755);

/** Starts servers with the service on a filled log. */
async function open(name, workers) {
  const cluster = await startCitusCluster({
    binaries,
    directory: join(directory, name),
    workers,
    durable: true,
    settings: SETTINGS,
  });
  await cluster.createDatabase('service');
  const bench = await openWorkbench({ databaseUrl: cluster.urlOf('service') });
  const service = await bench.service(UNLIMITED);
  await fillRequestLog(service.databaseUrl, {
    rows: ENTRIES,
    days: DAYS,
    bigClientId: service.credentials.production.client_id,
    end: new Date(),
  });
  console.error(`${name}: the log is filled`);
  const database = new pg.Client({ connectionString: service.databaseUrl });
  await database.connect();
  return { name, cluster, bench, service, database };
}

function tokenRequest({ baseUrl, credentials }) {
  return {
    url: `${baseUrl}/mcp/tokens/create`,
    headers: { authorization: basic(credentials.production), 'content-type': 'application/json' },
    body: JSON.stringify({ external_user_id: 'user-8f3a', expires_in: 3600 }),
  };
}

async function writes({ service }, distribution, clients) {
  const { stdout } = await run(process.execPath, [WRITER], {
    env: {
      PATH: process.env.PATH,
      ...service.settings,
      ...distribution,
      CLIENTS: String(clients),
      SECONDS: String(SECONDS),
    },
  });
  return Number(/rate (\d+)/.exec(stdout)?.[1]);
}

const median = (values) => values.toSorted((left, right) => left - right)[values.length >> 1];
const CITUS = { DATABASE_DISTRIBUTION: 'citus' };

let plain;
let distributed;
try {
  [plain, distributed] = await Promise.all([open('plain', 0), open('distributed', 2)]);

  await distributed.service.stop();
  await run(process.execPath, [CLI, 'database', 'distribute'], {
    env: { ...process.env, ...distributed.service.settings },
    maxBuffer: 1e8,
  });
  distributed.service = {
    ...distributed.service,
    ...(await distributed.bench.service({ ...UNLIMITED, ...CITUS })),
  };
  for (const { database } of [plain, distributed]) await database.query('VACUUM ANALYZE request_log');

  const rows = [];
  const tokens = await alternate({
    rounds: ROUNDS,
    seconds: SECONDS,
    product: tokenRequest(distributed.service),
    comparison: tokenRequest(plain.service),
  });
  const row = (label, ours, theirs, unit, digits = 0) =>
    rows.push([
      label,
      `${theirs.toFixed(digits)} ${unit}`,
      `${ours.toFixed(digits)} ${unit}`,
      (ours / theirs).toFixed(2),
    ]);
  row('operation 1, 32 connections', tokens.product.rate, tokens.comparison.rate, '/s');
  row('operation 1, p99', tokens.product.p99, tokens.comparison.p99, 'ms');

  for (const clients of [1, 50]) {
    const rates = { ours: [], theirs: [] };
    for (let round = 0; round < Math.ceil(ROUNDS / 2); round += 1) {
      rates.theirs.push(await writes(plain, {}, clients));
      rates.ours.push(await writes(distributed, CITUS, clients));
      console.error(`writes, ${clients} clients: ${rates.ours.at(-1)}/s, plain ${rates.theirs.at(-1)}/s`);
    }
    row(
      `log entries of ${clients} ${clients === 1 ? 'client' : 'clients'}`,
      median(rates.ours),
      median(rates.theirs),
      '/s',
    );
  }

  const readers = await Promise.all([plain, distributed].map(reads));
  for (const label of readers[0].keys()) {
    const times = [[], []];
    for (let round = 0; round < WARM_UP + REQUESTS; round += 1) {
      for (const [index, each] of readers.entries()) {
        const before = performance.now();
        await each.get(label)(round);
        if (round >= WARM_UP) times[index].push(performance.now() - before);
      }
    }
    row(label, median(times[1]), median(times[0]), 'ms', 1);
    console.error(rows.at(-1).join('  '));
  }
  reportTable('distribution', {
    title: `A request log of ${ENTRIES.toLocaleString('en')} entries, plain and distributed to two workers, all servers on one machine`,
    goal: 'operation 1 at least 0.7',
    columns: ['median', 'plain', 'distributed', 'ratio'],
    rows,
  });
} finally {
  for (const each of [plain, distributed]) {
    if (!each) continue;
    await each.database.end();
    await each.bench.close();
    await each.cluster.stop();
  }
  rmSync(directory, { recursive: true, force: true });
}

/** Returns functions that read one page or entry over HTTP. */
async function reads({ service, database }) {
  const token = await accessToken(service, 'production', 'request_logs:read');
  const headers = { authorization: `Bearer ${token}` };
  const get = async (path) => {
    const response = await fetch(`${service.baseUrl}${path}`, { headers });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`${path} responded ${response.status}`);
  };
  const end = new Date();
  const period = {
    environment: 'production',
    start: new Date(end.getTime() - 7 * DAY).toISOString(),
    end: end.toISOString(),
  };
  const page = (filter) => () => get(`/request-logs?${new URLSearchParams({ ...period, ...filter })}`);
  const { rows } = await database.query(
    `SELECT id FROM request_log WHERE client_id = $1 AND created_at > $2 ORDER BY random() LIMIT 100`,
    [service.credentials.production.client_id, new Date(end.getTime() - 20 * DAY)],
  );
  return new Map([
    ['page of 25', page({})],
    ['page of 25 of a user', page({ external_user_id: 'user-77' })],
    ['page of a filter without a match', page({ external_user_id: 'unknown-user' })],
    ['entry by ID', (round) => get(`/request-logs/${rows[round % rows.length].id}?environment=production`)],
  ]);
}
