/** Measures operation 3: pages of a request log with ten million entries in 30 days, compared with the same SQL through `pg`. */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { Pool } from 'undici';
import { accessToken } from './support/dashboard-login.mjs';
import { load } from './support/load.mjs';
import { fillRequestLog } from './support/request-log-rows.mjs';
import { reportTable } from './support/report.mjs';
import { basic, openWorkbench } from './support/workbench.mjs';

const ENTRIES = Number(process.env.ENTRIES ?? 10_000_000);
const REQUESTS = Number(process.env.REQUESTS ?? 300);
const ROUNDS = Number(process.env.ROUNDS ?? 5);
const DAYS = 30;
/** Entries before the deep page: at most those that the client, with a fifth of all entries, has in 6 of the 7 days. */
const DEPTH = Math.min(300_000, Math.floor((ENTRIES / 5 / DAYS) * 6));
const WARM_UP = 30;
const PAGE = 25;
const DAY = 86_400_000;
/** Concurrent log queries while operation 1 is measured: one organization may have five, of which four wait. */
const CONCURRENT_QUERIES = 5;

const bench = await openWorkbench();
try {
  const service = await bench.service({
    DASHBOARD_REQUESTS_PER_MINUTE: '100000000',
    MCP_TOKEN_REQUESTS_PER_MINUTE: '100000000',
    BACKGROUND_WORK: 'off',
  });
  const clientId = service.credentials.production.client_id;
  const end = new Date();
  const began = performance.now();
  const entries = await fillRequestLog(service.databaseUrl, {
    rows: ENTRIES,
    days: DAYS,
    bigClientId: clientId,
    end,
    report: (message) => console.error(message),
  });
  console.error(`${entries} entries in ${Math.round((performance.now() - began) / 1000)} s`);
  const database = new pg.Pool({ connectionString: service.databaseUrl, max: 1 });
  database.on('error', () => undefined);
  const bounds = { start: new Date(end.getTime() - 7 * DAY), end };
  const query = {
    environment: 'production',
    start: bounds.start.toISOString(),
    end: bounds.end.toISOString(),
  };
  let token = await accessToken(service, 'production', 'request_logs:read');
  let tokenAge = performance.now();

  const client = new Pool(service.baseUrl);
  const page = async (parameters) => {
    if (performance.now() - tokenAge > 600_000) {
      token = await accessToken(service, 'production', 'request_logs:read');
      tokenAge = performance.now();
    }
    const path = `/request-logs?${new URLSearchParams({ ...query, ...parameters })}`;
    const { statusCode, body } = await client.request({
      path,
      method: 'GET',
      headers: { authorization: `Bearer ${token}` },
    });
    const page = await body.json();
    if (statusCode !== 200) throw new Error(`${path} responded ${statusCode}`);
    return page;
  };

  const sql = async (filter, position) => {
    const columns = Object.keys(filter);
    const { rows } = await database.query(
      `SELECT id, client_id, environment, created_at, type, method, path, url, event, status_code, latency_ms,
              session_id, task_id, external_user_id, webhook_endpoint_id, webhook_event_id, attempt, reason, dns_ms,
              connect_ms, tls_ms, first_byte_ms
         FROM request_log
        WHERE client_id = $1 AND environment = 'production' AND created_at >= $2 AND created_at <= $3
          AND (created_at, id) < ($3, $4)${columns.map((column, index) => ` AND ${column} = $${index + 5}`).join('')}
        ORDER BY created_at DESC, id DESC LIMIT ${PAGE + 1}`,
      [
        clientId,
        bounds.start,
        position?.created_at ?? bounds.end,
        position?.id ?? Number.MAX_SAFE_INTEGER,
        ...Object.values(filter),
      ],
    );
    return rows;
  };

  const deep = await walk(page, DEPTH);
  const [position] = await database
    .query(
      `SELECT created_at, id FROM request_log WHERE client_id = $1 AND created_at <= $2
        ORDER BY created_at DESC, id DESC OFFSET ${DEPTH - 1} LIMIT 1`,
      [clientId, bounds.end],
    )
    .then(({ rows }) => rows);
  const [some] = await database
    .query(
      `SELECT session_id, task_id, external_user_id FROM request_log WHERE client_id = $1 AND created_at <= $2
          AND session_id IS NOT NULL AND task_id IS NOT NULL ORDER BY created_at DESC OFFSET ${DEPTH / 20} LIMIT 1`,
      [clientId, bounds.end],
    )
    .then(({ rows }) => rows);
  const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';
  const cases = [
    ['first page', {}],
    [`after ${DEPTH.toLocaleString('en')} entries`, {}, deep, position],
    ['type=webhook', { type: 'webhook' }],
    ['type=request', { type: 'request' }],
    ['session_id', { session_id: some.session_id }],
    ['session_id, no match', { session_id: UNKNOWN_ID }],
    ['task_id', { task_id: some.task_id }],
    ['task_id, no match', { task_id: -1 }],
    ['external_user_id', { external_user_id: some.external_user_id }],
    ['external_user_id of a busy user', { external_user_id: 'user-0' }],
    ['external_user_id, no match', { external_user_id: 'unknown-user' }],
    ['event', { event: 'AUTHENTICATED' }],
    ['event, no match', { event: 'NO_SUCH_EVENT' }],
    ['status_code=200', { status_code: 200 }],
    ['status_code=503', { status_code: 503 }],
    ['status_code=418, no match', { status_code: 418 }],
    ['event and status_code', { event: 'CARD_FAILED', status_code: 503 }],
    ['external_user_id and event', { external_user_id: 'user-0', event: 'CARD_FAILED' }],
    ['event and status_code, no match together', { event: 'CARD_FAILED', status_code: 429 }],
    ['type and status_code, no match together', { type: 'request', status_code: 503 }],
  ];
  const rows = [];
  const medians = new Map();
  for (const [label, filter, cursor, place] of cases) {
    const parameters = { ...filter, ...(cursor ? { cursor } : {}) };
    const [product, comparison] = await alternate(
      () => page(parameters),
      () => sql(filter, place),
    );
    medians.set(label, product.p50);
    const milliseconds = (value) => `${value.toFixed(1)} ms`;
    rows.push([
      label,
      ...[product.p50, product.p99, comparison.p50, comparison.p99, product.p50 - comparison.p50].map(
        milliseconds,
      ),
    ]);
    console.error(rows.at(-1).join('  '));
  }
  const depthRatio = medians.get(cases[1][0]) / medians.get('first page');
  reportTable('request-log-page', {
    title: `Operation 3: a page of ${PAGE} within 7 days, out of ${entries.toLocaleString('en')} entries in ${DAYS} days, for a client with a fifth of them, one client over HTTP`,
    goal: `p50 at most 2 ms above the same SQL through \`pg\`; the deep page at most 1.5 times the first page (measured: ${depthRatio.toFixed(2)})`,
    columns: ['page', 'p50', 'p99', 'SQL p50', 'SQL p99', 'difference of p50'],
    rows,
  });

  // Operation 1, with and without concurrent queries that match nothing.
  const nothing = [
    { event: 'CARD_FAILED', status_code: 429 },
    { type: 'request', status_code: 503 },
    { external_user_id: 'unknown-user' },
    { event: 'NO_SUCH_EVENT' },
  ];
  const createToken = {
    url: `${service.baseUrl}/mcp/tokens/create`,
    headers: { authorization: basic(service.credentials.production), 'content-type': 'application/json' },
    body: JSON.stringify({ external_user_id: 'user-8f3a', expires_in: 3600 }),
    connections: 8,
    seconds: 6,
  };
  const alone = [];
  const beside = [];
  await load(createToken);
  for (let round = 0; round < ROUNDS; round += 1) {
    alone.push(await load(createToken));
    let isRunning = true;
    let queries = 0;
    const bursts = (async () => {
      while (isRunning) {
        await Promise.all(
          Array.from({ length: CONCURRENT_QUERIES }, (_, index) => page(nothing[index % nothing.length])),
        );
        queries += CONCURRENT_QUERIES;
        await pause(1_000);
      }
    })();
    beside.push(await load(createToken));
    isRunning = false;
    await bursts;
    console.error(
      `operation 1: ${alone.at(-1).rate.toFixed(0)}/s alone, ${beside.at(-1).rate.toFixed(0)}/s with ${queries} queries`,
    );
  }
  const median = (runs, key) =>
    runs.map((run) => run[key]).toSorted((left, right) => left - right)[ROUNDS >> 1];
  const line = (label, key, unit) => [
    label,
    `${median(alone, key).toFixed(0)} ${unit}`,
    `${median(beside, key).toFixed(0)} ${unit}`,
    (median(beside, key) / median(alone, key)).toFixed(2),
  ];
  reportTable('request-log-beside', {
    title: `Operation 1, 8 connections, alone and with ${CONCURRENT_QUERIES} concurrent log queries every second that match nothing`,
    goal: 'at most 20 % slower',
    columns: ['median', 'alone', 'with queries', 'ratio'],
    rows: [line('requests', 'rate', '/s'), line('p50', 'p50', 'ms'), line('p99', 'p99', 'ms')],
  });
  await client.close();
  await database.end();
} finally {
  await bench.close();
}

/** Follows the cursors page by page, as a client does, and returns the last cursor. */
async function walk(page, depth) {
  let cursor;
  for (let seen = 0; seen < depth; seen += 50) {
    cursor = (await page({ limit: '50', ...(cursor ? { cursor } : {}) })).next_cursor;
  }
  return cursor;
}

/** Alternates the functions, so that a slower machine affects all of them equally. */
async function alternate(...works) {
  const times = works.map(() => []);
  for (let round = 0; round < WARM_UP + REQUESTS; round += 1) {
    for (const [index, work] of works.entries()) {
      const before = performance.now();
      await work();
      if (round >= WARM_UP) times[index].push(performance.now() - before);
    }
  }
  return times.map((each) => {
    each.sort((left, right) => left - right);
    return { p50: each[each.length >> 1], p99: each[Math.floor(each.length * 0.99)] };
  });
}
