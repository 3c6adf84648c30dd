/**
 * Measures the rollups of a request log with ten million entries in 7 days: writing them, reading overviews and pages of
 * the log, and their effect on operation 1.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import pg from 'pg';
import { AppModule } from '../dist/src/app.module.js';
import { loadConfiguration } from '../dist/src/infrastructure/config/index.js';
import {
  RequestLogOverviewService,
  RequestLogRollupsService,
} from '../dist/src/modules/request-logs/index.js';
import { accessToken, openDashboard } from './support/dashboard-login.mjs';
import { load } from './support/load.mjs';
import { fillRequestLog } from './support/request-log-rows.mjs';
import { reportTable } from './support/report.mjs';
import { cpuOf } from './support/usage.mjs';
import { basic, openWorkbench } from './support/workbench.mjs';

const ENTRIES = Number(process.env.ENTRIES ?? 10_000_000);
const REQUESTS = Number(process.env.REQUESTS ?? 100);
/** Rounds of operation 1 without updates, and as many with updates. */
const ROUNDS = Number(process.env.ROUNDS ?? 5);
const SECONDS = Number(process.env.SECONDS ?? 30);
const DAYS = 7;
const DAY = 86_400_000;
const MINUTE = 60_000;
const SLICE = 5 * MINUTE;
const WARM_UP = 5;
/** Seconds between two updates while operation 1 is measured; in the service, it is a minute. */
const UPDATE_INTERVAL = 15;

const bench = await openWorkbench();
try {
  const service = await bench.service({
    DASHBOARD_REQUESTS_PER_MINUTE: '100000000',
    MCP_TOKEN_REQUESTS_PER_MINUTE: '100000000',
    BACKGROUND_WORK: 'off',
  });
  const app = await NestFactory.createApplicationContext(
    AppModule.register(loadConfiguration(service.settings), { backgroundWork: false }),
    { logger: ['error'] },
  );
  const database = new pg.Pool({ connectionString: service.databaseUrl, max: 1 });
  database.on('error', () => undefined);
  const [{ postmaster }] = (
    await database.query("SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int AS postmaster")
  ).rows;
  const rollups = app.get(RequestLogRollupsService);
  const client = { clientId: service.credentials.production.client_id, environment: 'production' };
  const end = new Date();
  const began = performance.now();
  const entries = await fillRequestLog(service.databaseUrl, {
    rows: ENTRIES,
    days: DAYS,
    bigClientId: client.clientId,
    end,
    report: (message) => console.error(message),
  });
  console.error(`${entries} entries in ${seconds(performance.now() - began)}`);

  await measureWriting();
  await measureReading();
  await measurePages();
  if (ROUNDS > 0) await measureOperation1();
  await database.end();
  await app.close();

  async function measureWriting() {
    await rollups.update();
    const cpuBefore = cpuOf([postmaster]);
    const start = performance.now();
    await rollups.rebuild({});
    const duration = performance.now() - start;
    const cpu = cpuOf([postmaster]) - cpuBefore;
    const [{ rows, slices, bytes, log_bytes: logBytes }] = (
      await database.query(
        `SELECT count(*)::int AS rows, count(DISTINCT start)::int AS slices,
                pg_total_relation_size('request_log_rollup')::float8 AS bytes,
                (SELECT sum(pg_total_relation_size(inhrelid))::float8 FROM pg_inherits
                  WHERE inhparent = 'request_log'::regclass) AS log_bytes
           FROM request_log_rollup`,
      )
    ).rows;
    const single = [];
    for (let index = 1; index <= REQUESTS; index += 1) {
      const slice = new Date(end.getTime() - DAY - index * SLICE);
      const before = performance.now();
      await rollups.rebuild({ start: slice, end: slice });
      single.push(performance.now() - before);
    }
    const idle = await measure(() => rollups.update());
    await database.query('VACUUM ANALYZE request_log_rollup');
    reportTable('request-log-rollups-writing', {
      title: `Rollups of ${entries.toLocaleString('en')} request log entries of 201 clients in ${DAYS} days`,
      goal: 'figures for planning',
      columns: ['measurement', 'result'],
      rows: [
        ['rebuild of all rollups', seconds(duration)],
        ['CPU time of PostgreSQL for it', seconds(cpu)],
        ['slices of five minutes', String(slices)],
        ['rebuild of one slice, with a search for late entries, p50', milliseconds(median(single))],
        ['update without new entries, p50', milliseconds(idle.p50)],
        ['rows', rows.toLocaleString('en')],
        ['size with indexes', `${megabytes(bytes)} (log: ${megabytes(logBytes)})`],
      ],
    });
  }

  async function measureReading() {
    const overviews = app.get(RequestLogOverviewService);
    const rows = [];
    for (const period of ['24h', '7d']) {
      const { requests, deliveries } = await overviews.overview({ client, period });
      const total = requests.total + deliveries.total;
      const result = await measure(() => overviews.overview({ client, period }));
      rows.push([`overview of ${period} (${total.toLocaleString('en')} entries)`, ...percentiles(result)]);
    }
    const token = await accessToken(service, 'production', 'request_logs:read');
    const [some] = (
      await database.query(
        `SELECT external_user_id, session_id, webhook_endpoint_id, webhook_event_id FROM request_log
          WHERE client_id = $1 AND environment = 'production' AND session_id IS NOT NULL AND type = 'webhook'
            AND created_at < $2 ORDER BY created_at DESC LIMIT 1`,
        [client.clientId, new Date(end.getTime() - DAY)],
      )
    ).rows;
    const filters = [
      {},
      { type: 'request' },
      { type: 'webhook' },
      { outcome: 'failure' },
      { outcome: 'success' },
      { type: 'webhook', outcome: 'failure' },
      { status_code: '503' },
      { status_code: '418' },
      { event: 'AUTHENTICATED' },
      { event: 'AUTHENTICATED', outcome: 'failure' },
      { endpoint_id: some.webhook_endpoint_id },
      { endpoint_id: some.webhook_endpoint_id, outcome: 'failure' },
      { event_id: some.webhook_event_id },
      { session_id: some.session_id },
      { external_user_id: some.external_user_id },
      { external_user_id: 'unknown-user' },
    ];
    for (const filter of filters) {
      const query = new URLSearchParams({
        environment: 'production',
        start: new Date(end.getTime() - DAYS * DAY).toISOString(),
        end: end.toISOString(),
        ...filter,
      });
      const page = async () => {
        const response = await fetch(`${service.baseUrl}/request-logs?${query}`, {
          headers: { authorization: `Bearer ${token}` },
        });
        await response.json();
        if (response.status !== 200) throw new Error(`${query} responded ${response.status}`);
      };
      const label = Object.keys(filter).map((name) =>
        filter[name].length > 20 ? name : `${name}=${filter[name]}`,
      );
      rows.push([`log: ${label.join(', ') || 'first page'}`, ...percentiles(await measure(page))]);
    }
    reportTable('request-log-rollups-reading', {
      title: `Overviews, and pages of 25 within ${DAYS} days over HTTP, out of ${entries.toLocaleString('en')} entries, for a client with a fifth of them`,
      goal: 'p95 below 100 ms',
      columns: ['query', 'p50', 'p95', 'max'],
      rows,
    });
  }

  async function measurePages() {
    const load = await openDashboard(service);
    const rows = [];
    for (const path of [
      '',
      '?period=7d',
      '/request-logs',
      '/request-logs?period=7d',
      '/request-logs?period=7d&type=webhook&outcome=failure',
      '/events',
    ]) {
      const page = `/dashboard/production${path}`;
      const { length } = await load(page);
      rows.push([page, `${Math.ceil(length / 1_000)} KB`, ...percentiles(await measure(() => load(page)))]);
    }
    reportTable('request-log-rollups-pages', {
      title: `Pages of the dashboard over HTTP, out of ${entries.toLocaleString('en')} entries, for a client with a fifth of them`,
      goal: 'p95 below 100 ms, HTML below 60 KB',
      columns: ['page', 'HTML', 'p50', 'p95', 'max'],
      rows,
    });
  }

  /** Rounds alternate. An update in a round with updates also processes the entries of the round without, so the effect is doubled. */
  async function measureOperation1() {
    const createToken = {
      url: `${service.baseUrl}/mcp/tokens/create`,
      headers: { authorization: basic(service.credentials.production), 'content-type': 'application/json' },
      body: JSON.stringify({ external_user_id: 'user-8f3a', expires_in: 3600 }),
      connections: 32,
      seconds: SECONDS,
    };
    const run = async () => {
      const before = cpuOf([service.pid, postmaster]);
      const result = await load(createToken);
      const used = cpuOf([service.pid, postmaster]) - before;
      return { ...result, cpu: (used * 1_000) / (result.rate * SECONDS) };
    };
    const without = [];
    const beside = [];
    let updates = 0;
    await load({ ...createToken, seconds: 5 });
    await rollups.update();
    for (let round = 0; round < ROUNDS; round += 1) {
      without.push(await run());
      const stopping = new AbortController();
      const updating = (async () => {
        while (!stopping.signal.aborted) {
          await rollups.update();
          updates += 1;
          await pause(UPDATE_INTERVAL * 1_000, undefined, { signal: stopping.signal }).catch(() => undefined);
        }
      })();
      beside.push(await run());
      stopping.abort();
      await updating;
      const [left, right] = [without.at(-1), beside.at(-1)];
      console.error(
        `operation 1: ${left.rate.toFixed(0)}/s and ${left.cpu.toFixed(0)} ms per 1,000 without, ` +
          `${right.rate.toFixed(0)}/s and ${right.cpu.toFixed(0)} ms per 1,000 with updates`,
      );
    }
    const line = (label, key, unit) => {
      const [left, right] = [without, beside].map((runs) => median(runs.map((each) => each[key])));
      return [label, `${left.toFixed(1)} ${unit}`, `${right.toFixed(1)} ${unit}`, (right / left).toFixed(3)];
    };
    reportTable('request-log-rollups-beside', {
      title: `Operation 1, 32 connections, without and with ${updates} updates of the rollups, which process the entries of all ${2 * ROUNDS} rounds of ${SECONDS} s`,
      goal: 'costs less than 3 %',
      columns: ['median', 'without', 'with updates', 'ratio'],
      rows: [
        line('requests', 'rate', '/s'),
        line('CPU of the service and PostgreSQL for 1,000 requests', 'cpu', 'ms'),
        line('p50', 'p50', 'ms'),
        line('p99', 'p99', 'ms'),
      ],
    });
  }
} finally {
  await bench.close();
}

async function measure(work) {
  const times = [];
  for (let round = 0; round < WARM_UP + REQUESTS; round += 1) {
    const before = performance.now();
    await work();
    if (round >= WARM_UP) times.push(performance.now() - before);
  }
  times.sort((left, right) => left - right);
  return { p50: median(times), p95: times[Math.floor(times.length * 0.95)], max: times.at(-1) };
}

function median(values) {
  return values.toSorted((left, right) => left - right)[values.length >> 1];
}

function percentiles({ p50, p95, max }) {
  return [p50, p95, max].map(milliseconds);
}

function milliseconds(value) {
  return `${value.toFixed(1)} ms`;
}

function seconds(value) {
  return `${(value / 1_000).toFixed(1)} s`;
}

function megabytes(value) {
  return `${Math.round(value / 2 ** 20).toLocaleString('en')} MB`;
}
