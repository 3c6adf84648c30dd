/**
 * Measures `tools/call` of `search_detected_accounts` in both revisions of the protocol, compared with operation 5 for the same
 * user and names: the rate, the CPU time per request, and the latency at a fixed rate.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { latenciesOf, load, percentile } from './support/load.mjs';
import { reportTable } from './support/report.mjs';
import { cpuOf } from './support/usage.mjs';
import { basic, openWorkbench } from './support/workbench.mjs';

const ROUNDS = Number(process.env.ROUNDS ?? 12);
const SECONDS = Number(process.env.SECONDS ?? 3);
/** Requests per second of the open loop, whose requests do not wait for each other. */
const RATE = Number(process.env.RATE ?? 100);
const CONNECTIONS = 32;
const USERS = 10_000;
const ACCOUNTS_EACH = 8;
const NAMES = 10;
const USER = 'user-77';
const UNLIMITED = '100000000';

const bench = await openWorkbench();
try {
  const service = await bench.service({ MCP_TOOL_CALLS_PER_MINUTE: UNLIMITED });
  const credentials = service.credentials.production;
  const names = await detectAccounts(service.databaseUrl, credentials.client_id);
  const sides = await sidesOf(service, credentials, names);
  await expectSameResults(sides);
  const [postmaster] = readFileSync(join(service.dataDirectory, 'postgres', 'postmaster.pid'), 'utf8').split(
    '\n',
  );
  const cpu = () => [service.pid, Number(postmaster)].map((pid) => cpuOf([pid]));

  for (const side of sides) await load({ ...side, connections: CONNECTIONS, seconds: 3 });
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const side of sides) {
      const before = cpu();
      const { rate } = await load({ ...side, connections: CONNECTIONS, seconds: SECONDS });
      side.rates.push(rate);
      side.cpu.push(cpu().map((used, index) => (used - before[index]) / (rate * SECONDS)));
    }
    console.error(`round ${round}: ${sides.map(({ rates }) => `${rates.at(-1).toFixed(0)}/s`).join(', ')}`);
  }
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const side of sides)
      side.latencies.push(
        ...(await latenciesOf(side, { rate: RATE, seconds: SECONDS, connections: CONNECTIONS })),
      );
  }
  const [operation] = sides;
  reportTable('agent-connector', {
    title: `Tool call search_detected_accounts with ${NAMES} names, ${CONNECTIONS} connections, compared with operation 5`,
    goal: 'rate ratio at least 0.6, p95 below 20 ms',
    columns: ['median', 'rate', 'ratio', 'CPU: service', 'PostgreSQL', `p50 at ${RATE}/s`, 'p95', 'p99'],
    rows: sides.map(({ label, rates, cpu: used, latencies }) => [
      label,
      `${percentile(rates, 0.5).toFixed(0)} /s`,
      // The ratio is computed for each round, so that a slower machine affects both sides.
      percentile(
        rates.map((rate, round) => rate / operation.rates[round]),
        0.5,
      ).toFixed(2),
      ...[0, 1].map((index) => {
        const milliseconds = used.map((each) => each[index]);
        return `${(percentile(milliseconds, 0.5) * 1_000).toFixed(0)} µs`;
      }),
      ...[0.5, 0.95, 0.99].map((share) => `${percentile(latencies, share).toFixed(1)} ms`),
    ]),
  });
} finally {
  await bench.close();
}

/** @returns the names to search for, of which the user has accounts with most */
async function detectAccounts(connectionString, clientId) {
  const database = new pg.Client({ connectionString });
  await database.connect();
  await database.query(
    `INSERT INTO detected_account (client_id, external_user_id, merchant_id, detected_at)
     SELECT $1, 'user-' || number, merchant.id, now()
       FROM generate_series(1, $2::int) number
       CROSS JOIN LATERAL (SELECT id FROM merchant ORDER BY md5(number::text || id::text) LIMIT $3) merchant`,
    [clientId, USERS, ACCOUNTS_EACH],
  );
  await database.query('VACUUM ANALYZE detected_account');
  const { rows } = await database.query(
    `SELECT name FROM merchant
      ORDER BY id IN (SELECT merchant_id FROM detected_account WHERE external_user_id = $1) DESC, id LIMIT $2`,
    [USER, NAMES],
  );
  await database.end();
  return rows.map(({ name }) => name);
}

async function sidesOf({ baseUrl }, credentials, names) {
  const json = { 'content-type': 'application/json' };
  const asClient = { ...json, authorization: basic(credentials) };
  const created = await fetch(`${baseUrl}/mcp/tokens/create`, {
    method: 'POST',
    headers: asClient,
    body: JSON.stringify({ external_user_id: USER, phone_number: '+14155550123' }),
  });
  const { token } = await created.json();
  const asAgent = {
    ...json,
    authorization: `Bearer ${token}`,
    accept: 'application/json, text/event-stream',
  };
  const call = { name: 'search_detected_accounts', arguments: { names } };
  const message = (params) => JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const side = (label, path, headers, body) => ({
    label,
    url: `${baseUrl}${path}`,
    headers,
    body,
    rates: [],
    cpu: [],
    latencies: [],
  });
  return [
    side(
      'operation 5',
      '/detected-accounts/search',
      asClient,
      JSON.stringify({ external_user_id: USER, names }),
    ),
    side(
      'tools/call, 2026-07-28',
      '/mcp',
      {
        ...asAgent,
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': call.name,
      },
      message({
        ...call,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      }),
    ),
    side(
      'tools/call, 2025-11-25',
      '/mcp',
      { ...asAgent, 'mcp-protocol-version': '2025-11-25' },
      message(call),
    ),
  ];
}

/** All sides have to find the same accounts, or they cannot be compared. */
async function expectSameResults(sides) {
  const found = await Promise.all(
    sides.map(async ({ label, url, headers, body }) => {
      const text = await (await fetch(url, { method: 'POST', headers, body })).text();
      const count = text.match(/"detected":true/g)?.length ?? 0;
      if (count === 0) throw new Error(`${label} found no accounts: ${text}`);
      return count;
    }),
  );
  if (new Set(found).size !== 1) throw new Error(`Different numbers of accounts were found: ${found}`);
}
