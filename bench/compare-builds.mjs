/**
 * Compares this build with another one, such as the previous release: `node bench/compare-builds.mjs <checkout>`. The
 * other checkout must have been built. Both run at the same time, each with its own PostgreSQL, and get load in turns,
 * so that the ratios hold on a busy machine too. The build that starts first is at a disadvantage of up to 10 %, so the
 * order changes from session to session. CPU time includes PostgreSQL. To see the error of the measurement, compare a
 * build with a copy of itself.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { load } from './support/load.mjs';
import { basic, openWorkbench } from './support/workbench.mjs';

const SESSIONS = Number(process.env.SESSIONS ?? 6);
const ROUNDS = Number(process.env.ROUNDS ?? 4);
const SECONDS = Number(process.env.SECONDS ?? 3);
const [, , other] = process.argv;
if (!other) throw new Error('Usage: node bench/compare-builds.mjs <checkout>');

const { openWorkbench: openOther } = await import(
  pathToFileURL(join(resolve(other), 'bench/support/workbench.mjs')).href
);
const openWorkbenchOf = { before: openOther, after: openWorkbench };

const UNLIMITED = {
  MCP_TOKEN_REQUESTS_PER_MINUTE: '100000000',
  MCP_TOOL_CALLS_PER_MINUTE: '100000000',
  BACKGROUND_WORK: 'off',
};
const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
const names = Array.from({ length: 10 }, (_, index) => `Merchant ${index}`);

const USER = 'user-8f3a';
const COMMANDS = { before: resolve(other), after: resolve(import.meta.dirname, '..') };

/** Returns the requests of a side, each with its credentials. */
async function requestsOf(side, { baseUrl, credentials, settings }) {
  const asClient = { authorization: basic(credentials.development), 'content-type': 'application/json' };
  const createToken = { path: '/mcp/tokens/create', body: { external_user_id: USER, expires_in: 3600 } };
  const created = await fetch(`${baseUrl}${createToken.path}`, {
    method: 'POST',
    headers: asClient,
    body: JSON.stringify(createToken.body),
  });
  const { token } = await created.json();
  const command = ['service-token', 'create', '--name', 'bench', '--scope', 'events:publish'];
  const output = execFileSync(process.execPath, [join(COMMANDS[side], 'dist/src/cli/main.js'), ...command], {
    encoding: 'utf8',
    env: { ...process.env, ...settings },
  });
  return {
    'create MCP token': { ...createToken, headers: asClient },
    'search detected accounts': {
      path: '/detected-accounts/search',
      headers: asClient,
      body: { external_user_id: USER, names },
    },
    'publish event': {
      path: '/events',
      headers: { ...asClient, authorization: `Bearer ${JSON.parse(output).token}` },
      body: {
        event: 'MERCHANT_STATUS_UPDATE',
        client_id: credentials.development.client_id,
        merchant_id: 16,
        data: { type: 'link', status: 'DOWN' },
      },
    },
    'tools/call': {
      path: '/mcp',
      headers: {
        ...asClient,
        authorization: `Bearer ${token}`,
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
      },
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'search_detected_accounts', arguments: { names } },
      },
    },
  };
}

const results = {};
for (let session = 0; session < SESSIONS; session += 1) {
  await runSession(session % 2 ? ['before', 'after'] : ['after', 'before']);
  console.error(`session ${session + 1} of ${SESSIONS}`);
}
for (const [name, { before, after }] of Object.entries(results)) {
  const ratio = (value) => (median(after.map(value)) / median(before.map(value))).toFixed(2);
  const rates = [before, after].map((runs) => median(runs.map(({ rate }) => rate)).toFixed(0));
  const memory = [before, after].map((runs) => median(runs.map(({ peak }) => peak)).toFixed(0));
  const line = [
    `rate ${rates.join(' → ')} /s`,
    `rate ratio ${ratio(({ rate }) => rate)}`,
    `CPU per request ratio ${ratio(({ cpu }) => cpu)}`,
    `p99 ratio ${ratio(({ p99 }) => p99)}`,
    `peak memory ${memory.join(' → ')} MB`,
  ];
  console.log(`${name}: ${line.join(', ')}`);
}

/** Starts both builds in the given order and loads them in turns. */
async function runSession(order) {
  const sides = {};
  try {
    for (const side of order) {
      const workbench = await openWorkbenchOf[side]();
      sides[side] = { workbench };
      sides[side].service = await workbench.service(UNLIMITED);
      sides[side].requests = await requestsOf(side, sides[side].service);
    }
    for (const name of Object.keys(sides.after.requests)) {
      results[name] ??= { before: [], after: [] };
      // The first round is a warm-up.
      for (let round = 0; round <= ROUNDS; round += 1) {
        for (const side of round % 2 ? order : order.toReversed()) {
          const result = await measure(sides[side], sides[side].requests[name]);
          if (round > 0) results[name][side].push(result);
        }
      }
    }
  } finally {
    for (const { workbench } of Object.values(sides)) await workbench.close();
  }
}

async function measure({ workbench, service }, { path, headers, body }) {
  const start = cpuSeconds(workbench, service);
  const result = await load({
    url: `${service.baseUrl}${path}`,
    headers,
    body: JSON.stringify(body),
    seconds: SECONDS,
  });
  const cpu = (cpuSeconds(workbench, service) - start) / (result.rate * SECONDS);
  return { ...result, cpu, peak: peakMemory(service) };
}

/** Returns the CPU seconds of the service and of its PostgreSQL, processes that have ended included. */
function cpuSeconds({ directory }, { pid }) {
  const postmaster = readdirSync(join(directory, 'postgres'), { recursive: true })
    .filter((file) => file.endsWith('postmaster.pid'))
    .map((file) => Number(readFileSync(join(directory, 'postgres', file), 'utf8').split('\n')[0]))[0];
  const processes = readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map((entry) => statOf(entry));
  return processes
    .filter((stat) => stat && (stat.pid === pid || stat.pid === postmaster || stat.parent === postmaster))
    .reduce((sum, stat) => sum + stat.ticks / TICKS_PER_SECOND, 0);
}

/** See proc(5): the fields after the name are state, ppid, …, utime, stime, cutime, cstime. */
function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [utime, stime, cutime, cstime] = fields.slice(11, 15).map(Number);
    return { pid: Number(pid), parent: Number(fields[1]), ticks: utime + stime + cutime + cstime };
  } catch {
    return undefined;
  }
}

/** Returns the peak resident memory of the service in megabytes. */
function peakMemory({ pid }) {
  const [, kilobytes] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1_024;
}

function median(values) {
  return values.toSorted((left, right) => left - right)[values.length >> 1];
}
