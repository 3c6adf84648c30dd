/**
 * Measures the time from publication to arrival of an event, with and without a dead endpoint that has a long queue.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { reportTable } from './support/report.mjs';
import { EXAMPLE_EVENT, openWebhooks } from './support/webhooks.mjs';
import { openWorkbench } from './support/workbench.mjs';

const RATE = Number(process.env.RATE ?? 200);
const SECONDS = Number(process.env.SECONDS ?? 20);
const WAITING = Number(process.env.WAITING ?? 100_000);

const bench = await openWorkbench();
const webhooks = await openWebhooks(bench);
const [port] = webhooks.ports;
const { database, client } = webhooks;

function percentile(values, share) {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** Publishes at a steady rate and returns the time that each event took to arrive, in milliseconds. */
async function latencies(seconds) {
  const published = new Map();
  const work = [];
  const begin = performance.now();
  for (let index = 0; index < RATE * seconds; index += 1) {
    const due = begin + (index * 1000) / RATE;
    if (due > performance.now()) await pause(due - performance.now());
    const at = performance.timeOrigin + performance.now();
    work.push(webhooks.publish(EXAMPLE_EVENT, client).then((id) => published.set(id, at)));
  }
  await Promise.all(work);
  const until = Date.now() + 30_000;
  for (;;) {
    const arrived = new Map(webhooks.arrivals(port).map(({ eventId, at }) => [eventId, at]));
    if ([...published.keys()].every((id) => arrived.has(id))) {
      return [...published].map(([id, at]) => arrived.get(id) - at);
    }
    if (Date.now() > until) throw new Error('Not all events arrived.');
    await pause(200);
  }
}

async function settled() {
  for (;;) {
    const { rows } = await database.query(
      `SELECT count(*)::integer AS count FROM webhook_delivery WHERE url NOT LIKE '%/dead'`,
    );
    if (rows[0].count === 0) return;
    await pause(100);
  }
}

try {
  await webhooks.addEndpoint(client.clientId, `http://127.0.0.1:${port}/healthy`);
  await webhooks.worker();
  await latencies(3);
  await settled();
  const alone = await latencies(SECONDS);

  const dead = await webhooks.addEndpoint(client.clientId, `http://127.0.0.1:${port}/dead`);
  await database.query(
    `WITH event AS (
       INSERT INTO webhook_event (id, created_at, client_id, environment, event, body)
       SELECT gen_random_uuid(), now(), $1, 'development', 'CARD_UPDATED', '{}' FROM generate_series(1, $2)
       RETURNING id, created_at)
     INSERT INTO webhook_delivery (endpoint_id, event_id, event_created_at, url, attempts_allowed, due_at)
     SELECT $3, id, created_at, $4, 3, now() FROM event`,
    [client.clientId, WAITING, dead, `http://127.0.0.1:${port}/dead`],
  );
  await database.query('ANALYZE webhook_delivery, webhook_event');
  await pause(3_000);
  const beside = await latencies(SECONDS);

  const row = (label, values, goal) => [
    label,
    `${percentile(values, 0.5).toFixed(0)} ms`,
    `${percentile(values, 0.95).toFixed(0)} ms`,
    `${percentile(values, 0.99).toFixed(0)} ms`,
    goal,
  ];
  reportTable('webhook-latency', {
    title: `Webhook latency from publication to arrival at ${RATE} events/s, one worker`,
    goal: 'see the last column',
    columns: ['endpoints', 'p50', 'p95', 'p99', 'p95 goal'],
    rows: [
      row('one healthy endpoint', alone, '120 ms'),
      row(`plus a dead one with ${WAITING.toLocaleString('en')} waiting deliveries`, beside, '250 ms'),
    ],
  });
} finally {
  await webhooks.close();
  await bench.close();
}
