/**
 * Restarts the service while `mcs listen` receives a stream of events: every second time with SIGTERM, otherwise with
 * SIGKILL. A publish request that fails is repeated with the same idempotency key. `mcs listen` must show each event exactly
 * once.
 *
 * `node bench/stream-restarts.mjs --restarts 20 --events 1000`
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startCommand } from './support/command-line.mjs';
import { freePort, start } from './support/processes.mjs';
import { reportTable } from './support/report.mjs';
import { createServiceToken } from './support/webhooks.mjs';
import { openWorkbench } from './support/workbench.mjs';

const { values } = parseArgs({
  options: { restarts: { type: 'string', default: '20' }, events: { type: 'string', default: '1000' } },
});
const [restarts, events] = [values.restarts, values.events].map(Number);
const MAIN = new URL('../dist/src/main.js', import.meta.url).pathname;
/** Milliseconds without a further event. */
const TIMEOUT = 30_000;

const bench = await openWorkbench();
const first = await bench.service();
await first.stop();
const { development } = first.credentials;
const token = await createServiceToken(first.settings);
const port = await freePort();
const baseUrl = `http://127.0.0.1:${port}`;
const startService = () =>
  start(MAIN, {
    environment: { ...first.settings, LOG_LEVEL: 'error', PORT: String(port) },
    ready: 'Listening on',
  });

const published = new Set();
let repeated = 0;
async function publish(key) {
  for (;;) {
    const response = await fetch(`${baseUrl}/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        client_id: development.client_id,
        event: 'NEW_TRANSACTIONS_AVAILABLE',
        external_user_id: 'user-8f3a',
        merchant_id: 16,
        idempotency_key: `key-${key}`,
      }),
      signal: AbortSignal.timeout(10_000),
    }).catch(() => undefined);
    if (response?.status === 200) return published.add((await response.json()).event_id);
    if (response && response.status < 500) throw new Error(await response.text());
    repeated += 1;
    await pause(100);
  }
}

let service = await startService();
const listen = startCommand(['listen'], {
  MCS_BASE_URL: baseUrl,
  MCS_CLIENT_ID: development.client_id,
  MCS_CLIENT_SECRET: development.secret,
});
const connections = () => listen.progress.match(/Listening|Connected again/g)?.length ?? 0;

try {
  while (connections() === 0) await pause(50);
  let restarted = 0;
  const publishing = (async () => {
    const requests = [];
    // The events are spread over all restarts.
    for (let key = 0; key < events; key += 1) {
      requests.push(publish(key));
      while (key / events > (restarted + 1) / restarts) await pause(20);
      await pause(10);
    }
    await Promise.all(requests);
  })();
  for (; restarted < restarts; restarted += 1) {
    await pause(100 + Math.random() * 400);
    service.kill(restarted % 2 === 0 ? 'SIGTERM' : 'SIGKILL');
    await service.ended;
    service = await startService();
    // Otherwise, some restarts would interrupt nothing.
    while (connections() < restarted + 2) await pause(20);
  }
  await publishing;
  let until = Date.now() + TIMEOUT;
  for (let shown = -1; listen.results.length < published.size && Date.now() < until; await pause(100)) {
    if (listen.results.length > shown) until = Date.now() + TIMEOUT;
    shown = listen.results.length;
  }
  await pause(2_000);
  const ids = listen.results.map(({ id }) => id);
  const missing = [...published].filter((id) => !ids.includes(id));
  const twice = ids.length - new Set(ids).size;
  reportTable('stream-restarts', {
    title: 'Events that `mcs listen` shows while the service restarts',
    goal: 'each event exactly once',
    columns: ['restarts', 'events published', 'requests repeated', 'connections', 'missing', 'shown twice'],
    rows: [[restarts, published.size, repeated, connections(), missing.length, twice]],
  });
  if (missing.length > 0 || twice > 0 || ids.length !== published.size) process.exitCode = 1;
} finally {
  await listen.stop();
  await service.stop();
  await bench.close();
}
