/**
 * Measures the time and the memory of the first start with the embedded PostgreSQL, as `npm start` does it: at rest, and after five
 * bursts of 5,000 events to one endpoint. `node bench/first-start.mjs <checkout>` also measures another build, in turn.
 */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { accessToken } from './support/dashboard-login.mjs';
import { eventually } from './support/drill.mjs';
import { autocannon } from './support/load.mjs';
import { flagsOf, freePort, start } from './support/processes.mjs';
import { reportTable } from './support/report.mjs';
import { createServiceToken } from './support/webhooks.mjs';

const ROUNDS = Number(process.env.ROUNDS ?? 5);
const BURSTS = 5;
const EVENTS = 5_000;
const RECEIVER = new URL('baselines/webhook-receiver.mjs', import.meta.url).pathname;
const ROOT = resolve(import.meta.dirname, '..');
const [, , other] = process.argv;
const builds = [...(other ? [{ name: 'before', root: resolve(other) }] : []), { name: 'now', root: ROOT }];

const runs = builds.map(() => []);
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [index, { name, root }] of builds.entries()) {
    runs[index].push(await measure(root));
    console.error(name, runs[index].at(-1));
  }
}
const median = (all, key) => all.map((run) => run[key]).toSorted((left, right) => left - right)[ROUNDS >> 1];
const row = (title, key, unit, digits = 0) => [
  title,
  ...runs.map((all) => `${median(all, key).toFixed(digits)} ${unit}`),
];
reportTable('first-start', {
  title: 'First start with the embedded PostgreSQL, everything in one process',
  goal: 'ready within 10 s; at most 140 MB of the service and 220 MB in total at rest, 260 MB and 430 MB after bursts',
  columns: ['median', ...builds.map(({ name }) => name)],
  rows: [
    row('time until ready', 'seconds', 's', 1),
    row('memory of the service at rest', 'service', 'MB'),
    row('with PostgreSQL (shared memory counted once)', 'total', 'MB'),
    row(`memory of the service after ${BURSTS} bursts`, 'usedService', 'MB'),
    row('with PostgreSQL', 'usedTotal', 'MB'),
  ],
});

async function measure(root) {
  const directory = mkdtempSync(join(tmpdir(), 'bench-'));
  // PostgreSQL may run as another user, which must be able to enter the folder.
  chmodSync(directory, 0o755);
  const data = join(directory, 'data');
  const port = String(await freePort());
  const began = performance.now();
  const service = await start(join(root, 'dist/src/main.js'), {
    environment: {
      DATA_DIR: data,
      PORT: port,
      WEBHOOK_TARGETS: 'any',
      LOG_LEVEL: 'error',
    },
    flags: flagsOf(root),
    ready: 'Listening on',
  });
  const seconds = (performance.now() - began) / 1_000;
  await pause(5_000);
  const memory = () => {
    const own = megabytes([service.pid]);
    return [own, own + megabytes(descendants(directory))];
  };
  const [atRest, totalAtRest] = memory();
  const receiver = await burst({ root, baseUrl: `http://127.0.0.1:${port}`, directory, data });
  const [usedService, usedTotal] = memory();
  await receiver.stop();
  await service.stop();
  rmSync(directory, { recursive: true, force: true });
  return { seconds, service: atRest, total: totalAtRest, usedService, usedTotal };
}

async function burst({ root, baseUrl, directory, data }) {
  const credentials = JSON.parse(readFileSync(join(data, 'credentials.json'), 'utf8'));
  const port = await freePort();
  const journal = join(directory, 'arrivals.txt');
  const receiver = await start(RECEIVER, {
    environment: { PORT: String(port), JOURNAL: journal },
    ready: 'ready',
  });
  const json = { 'content-type': 'application/json' };
  const bearer = (token) => ({ ...json, authorization: `Bearer ${token}` });
  const token = await accessToken({ baseUrl, credentials }, 'development', 'webhook_endpoints:write');
  const response = await fetch(`${baseUrl}/webhook-endpoints/create`, {
    method: 'POST',
    headers: bearer(token),
    body: JSON.stringify({ url: `http://127.0.0.1:${port}/hook`, environment: 'development' }),
  });
  if (!response.ok) throw new Error(await response.text());
  const publisher = await createServiceToken({ DATA_DIR: data }, root);
  for (let count = 1; count <= BURSTS; count += 1) {
    const { non2xx, errors } = await autocannon({
      url: `${baseUrl}/events`,
      method: 'POST',
      headers: bearer(publisher),
      body: JSON.stringify({
        event: 'MERCHANT_STATUS_UPDATE',
        client_id: credentials.development.client_id,
        merchant_id: 16,
        data: { type: 'link', status: 'DOWN' },
      }),
      connections: 32,
      amount: EVENTS,
    });
    if (non2xx + errors > 0) throw new Error(`${non2xx + errors} events were not accepted`);
    await eventually(
      'all events have arrived',
      () => read(journal).split('\n').length > count * EVENTS,
      60_000,
    );
    await pause(2_000);
  }
  return receiver;
}
/** Returns the processes of the PostgreSQL server whose data are in the directory. */
function descendants(directory) {
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const servers = processes.filter((pid) => read(`/proc/${pid}/cmdline`).includes(directory));
  return processes.filter(
    (pid) =>
      servers.includes(pid) || servers.includes(/^PPid:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1]),
  );
}

function megabytes(pids) {
  const kilobytes = pids.map((pid) =>
    Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0),
  );
  return kilobytes.reduce((sum, each) => sum + each, 0) / 1_024;
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
