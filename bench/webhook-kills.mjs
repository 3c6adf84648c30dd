/**
 * Publishes events with `POST /events` on two processes that also send them, repeatedly kills one of the two (SIGKILL) at
 * a random moment, and restarts PostgreSQL in between. A request that fails is repeated with the same idempotency key.
 * Nothing may be lost: every event is published once and arrives at every endpoint, more than once only if an attempt was
 * interrupted, and every lane is empty at the end.
 *
 * `node bench/webhook-kills.mjs --kills 200 --restarts 2`
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { restartPostgres } from './support/postgres.mjs';
import { freePort, start } from './support/processes.mjs';
import { createServiceToken, openWebhooks } from './support/webhooks.mjs';
import { openWorkbench } from './support/workbench.mjs';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    restarts: { type: 'string', default: '2' },
    rate: { type: 'string', default: '50' },
  },
});
const [kills, restarts, rate] = [values.kills, values.restarts, values.rate].map(Number);
const ENDPOINTS = 3;
/** Milliseconds without progress: two leases and the retries after them. */
const TIMEOUT = 90_000;

const bench = await openWorkbench();
const webhooks = await openWebhooks(bench, {
  receivers: ENDPOINTS,
  environment: { WEBHOOK_RETRY_SECONDS: '1,2', DATABASE_POOL_SIZE: '20' },
});
const { client, ports } = webhooks;

const MAIN = new URL('../dist/src/main.js', import.meta.url).pathname;
const processes = [{ port: await freePort() }, { port: await freePort() }];
const token = await createServiceToken(webhooks.settings);
/** The IDs of the published events by idempotency key. */
const published = new Map();
let publishing = true;
let repeated = 0;
let duplicates = 0;

async function startProcess(index) {
  const { port } = processes[index];
  processes[index] = {
    port,
    ...(await start(MAIN, {
      environment: { ...webhooks.settings, PORT: String(port) },
      ready: 'Listening on',
    })),
  };
}

/** Repeats the request, at either process, until one responds with 200. */
async function publish(key) {
  for (let attempt = 0; ; attempt += 1) {
    const { port } = processes[(key + attempt) % 2];
    const response = await fetch(`http://127.0.0.1:${port}/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        client_id: client.clientId,
        event: 'NEW_TRANSACTIONS_AVAILABLE',
        external_user_id: 'user-8f3a',
        merchant_id: 16,
        idempotency_key: `key-${key}`,
      }),
      signal: AbortSignal.timeout(10_000),
    }).catch(() => undefined);
    if (response?.status === 200) {
      const { event_id: id, duplicate } = await response.json();
      published.set(`key-${key}`, id);
      if (duplicate) duplicates += 1;
      return;
    }
    if (response && response.status < 500) throw new Error(await response.text());
    repeated += 1;
    await pause(100);
  }
}

async function publishSteadily() {
  const work = [];
  for (let key = 0; publishing; key += 1) {
    work.push(publish(key));
    await pause(1000 / rate);
  }
  await Promise.all(work);
}

async function kill(worker) {
  process.kill(worker.pid, 'SIGKILL');
  await worker.ended;
}

async function drained() {
  let least = Infinity;
  let until = 0;
  for (;;) {
    const { rows } = await webhooks.query('SELECT count(*)::integer AS waiting FROM webhook_delivery');
    const [{ waiting }] = rows;
    if (waiting === 0) return;
    if (waiting < least) [least, until] = [waiting, Date.now() + TIMEOUT];
    if (Date.now() > until) throw new Error(`${waiting} deliveries are waiting, but none are sent`);
    await pause(500);
  }
}

const failures = [];
function expect(what, isSo) {
  if (!isSo) failures.push(what);
}

try {
  for (const port of ports) await webhooks.addEndpoint(client.clientId, `http://127.0.0.1:${port}/hook`);
  await Promise.all([startProcess(0), startProcess(1)]);
  const publisher = publishSteadily();
  await pause(1_000);
  const restartAfter = new Set(
    Array.from({ length: restarts }, (_, index) => Math.floor((kills * (index + 1)) / (restarts + 1))),
  );
  for (let killed = 1; killed <= kills; killed += 1) {
    const victim = killed % 2;
    await pause(20 + Math.random() * 400);
    await kill(processes[victim]);
    if (restartAfter.has(killed)) await restartPostgres(join(bench.directory, 'postgres'));
    await startProcess(victim);
    if (killed % 20 === 0) console.error(`${killed} kills, ${published.size} events`);
  }
  publishing = false;
  await publisher;
  await drained();

  const interrupted = new Map();
  const { rows: attempts } = await webhooks.query(
    `SELECT webhook_event_id AS event, url, max(attempt) AS attempts,
            count(*) FILTER (WHERE reason IS NOT NULL)::integer AS failed
       FROM request_log WHERE type = 'webhook' GROUP BY webhook_event_id, url`,
  );
  for (const { event, url, attempts: made, failed } of attempts) {
    expect(`${event} had ${made} attempts`, made <= 3);
    interrupted.set(`${event} ${url}`, failed);
  }
  let arrived = 0;
  let twice = 0;
  for (const port of ports) {
    const counts = new Map();
    for (const { eventId } of webhooks.arrivals(port)) counts.set(eventId, (counts.get(eventId) ?? 0) + 1);
    for (const id of published.values()) {
      const times = counts.get(id) ?? 0;
      const failedAttempts = interrupted.get(`${id} http://127.0.0.1:${port}/hook`);
      arrived += Math.min(times, 1);
      twice += Math.max(times - 1, 0);
      expect(`${id} did not arrive at ${port}`, times > 0);
      expect(`${id} is not in the log of ${port}`, failedAttempts !== undefined);
      expect(
        `${id} arrived ${times} times at ${port}, and ${failedAttempts} attempts failed`,
        times <= 1 + (failedAttempts ?? 0),
      );
    }
  }
  const { rows: events } = await webhooks.query('SELECT count(*)::integer AS stored FROM webhook_event');
  expect(
    `${events[0].stored} events are stored for ${published.size} idempotency keys`,
    events[0].stored === published.size,
  );
  const { rows: lanes } = await webhooks.query('SELECT sum(in_flight)::integer AS flying FROM webhook_lane');
  expect(
    `the lanes count ${lanes[0].flying} attempts in progress, but there are none`,
    lanes[0].flying === 0,
  );
  const cut = attempts.reduce((sum, { failed }) => sum + failed, 0);
  console.log(
    `${kills} kills, ${restarts} restarts of PostgreSQL: ${published.size} events published (${repeated} requests ` +
      `repeated, ${duplicates} of them had published), ${arrived} of ${published.size * ENDPOINTS} deliveries arrived, ${twice} twice, ` +
      `${cut} attempts were interrupted.`,
  );
  for (const failure of failures.slice(0, 20)) console.error(failure);
  if (failures.length > 0) process.exitCode = 1;
} finally {
  publishing = false;
  for (const process of processes) await process.stop?.();
  await webhooks.close();
  await bench.close();
}
