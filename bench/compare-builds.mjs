/**
 * Compares this build with another one, such as the previous release: `node bench/compare-builds.mjs <checkout>`. The
 * other checkout must have been built. Both run at the same time, each with its own PostgreSQL, and get load in turns,
 * so that the ratios hold on a busy machine too. CPU time includes PostgreSQL.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { load } from './support/load.mjs';
import { basic, openWorkbench } from './support/workbench.mjs';

const ROUNDS = Number(process.env.ROUNDS ?? 7);
const SECONDS = Number(process.env.SECONDS ?? 4);
const [, , other] = process.argv;
if (!other) throw new Error('Usage: node bench/compare-builds.mjs <checkout>');

const UNLIMITED = { MCP_TOKEN_REQUESTS_PER_MINUTE: '100000000', BACKGROUND_WORK: 'off' };
const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
const names = Array.from({ length: 10 }, (_, index) => `Merchant ${index}`);

const REQUESTS = {
  'create MCP token': {
    path: '/mcp/tokens/create',
    body: { external_user_id: 'user-8f3a', expires_in: 3600 },
  },
  'search detected accounts': {
    path: '/detected-accounts/search',
    body: { external_user_id: 'user-8f3a', names },
  },
};

const workbenches = {
  after: await openWorkbench(),
  before: await (
    await import(pathToFileURL(join(resolve(other), 'bench/support/workbench.mjs')).href)
  ).openWorkbench(),
};
try {
  const sides = {};
  for (const [side, workbench] of Object.entries(workbenches)) {
    sides[side] = { workbench, service: await workbench.service(UNLIMITED) };
  }
  for (const [name, { path, body }] of Object.entries(REQUESTS)) {
    const results = { before: [], after: [] };
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const side of round % 2 ? ['before', 'after'] : ['after', 'before']) {
        const result = await measure(sides[side], path, body);
        // The first round is a warm-up.
        if (round > 0) results[side].push(result);
      }
    }
    const ratio = (value) => median(results.after.map(value)) / median(results.before.map(value));
    const line = [
      `rate ${median(results.before.map(({ rate }) => rate)).toFixed(0)} → ${median(results.after.map(({ rate }) => rate)).toFixed(0)} /s`,
      `rate ratio ${ratio(({ rate }) => rate).toFixed(2)}`,
      `CPU per request ratio ${ratio(({ cpu }) => cpu).toFixed(2)}`,
      `p99 ratio ${ratio(({ p99 }) => p99).toFixed(2)}`,
      `peak memory ${peakMemory(sides.before).toFixed(0)} → ${peakMemory(sides.after).toFixed(0)} MB`,
    ];
    console.log(`${name}: ${line.join(', ')}`);
  }
} finally {
  for (const workbench of Object.values(workbenches)) await workbench.close();
}

async function measure({ workbench, service }, path, body) {
  const start = cpuSeconds(workbench, service);
  const result = await load({
    url: `${service.baseUrl}${path}`,
    headers: {
      authorization: basic(service.credentials.development),
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
    seconds: SECONDS,
  });
  const cpu = (cpuSeconds(workbench, service) - start) / (result.rate * SECONDS);
  return { ...result, cpu };
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
function peakMemory({ service: { pid } }) {
  const [, kilobytes] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1_024;
}

function median(values) {
  return values.toSorted((left, right) => left - right)[values.length >> 1];
}
