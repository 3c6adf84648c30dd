/** Measures the time from publication to arrival at a healthy endpoint beside endpoints of other organizations that never respond. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { ApiClientsService } from '../dist/src/modules/api-clients/index.js';
import { reportTable } from './support/report.mjs';
import { EXAMPLE_EVENT, openWebhooks } from './support/webhooks.mjs';
import { openWorkbench } from './support/workbench.mjs';

const ORGANIZATIONS = Number(process.env.ORGANIZATIONS ?? 10);
const ENDPOINTS = 10;
const SECONDS = Number(process.env.SECONDS ?? 30);
/** Events per second of the healthy client, and of all others together. */
const RATE = Number(process.env.RATE ?? 20);
const DEAD_RATE = Number(process.env.DEAD_RATE ?? 20);

const bench = await openWorkbench();
const webhooks = await openWebhooks(bench, {
  environment: { WEBHOOK_CONCURRENCY: process.env.WEBHOOK_CONCURRENCY ?? '256' },
});
const [port] = webhooks.ports;

function percentile(values, share) {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

async function deadClient() {
  const organization = randomUUID();
  await webhooks.query(`INSERT INTO organization (id, name, created_at) VALUES ($1, 'Dead', now())`, [
    organization,
  ]);
  const { clientId } = await webhooks.get(ApiClientsService).create(organization, 'development');
  for (let index = 0; index < ENDPOINTS; index += 1) {
    await webhooks.addEndpoint(clientId, `http://127.0.0.1:${port}/dead/${index}`);
  }
  return { clientId, environment: 'development' };
}

/** Publishes at a steady rate. Calls `published` with each event's ID and time. */
async function publish(rate, seconds, clientOf, published = () => undefined) {
  const work = [];
  const begin = performance.now();
  for (let index = 0; index < rate * seconds; index += 1) {
    const due = begin + (index * 1000) / rate;
    if (due > performance.now()) await pause(due - performance.now());
    const at = performance.timeOrigin + performance.now();
    work.push(webhooks.publish(EXAMPLE_EVENT, clientOf(index)).then((id) => published(id, at)));
  }
  await Promise.all(work);
}

async function latencies(seconds, beside = () => undefined) {
  const published = new Map();
  const others = beside();
  await publish(
    RATE,
    seconds,
    () => webhooks.client,
    (id, at) => published.set(id, at),
  );
  await others;
  const until = Date.now() + 60_000;
  for (;;) {
    const arrived = new Map(
      webhooks
        .arrivals(port)
        .filter(({ path }) => path === '/healthy')
        .map(({ eventId, at }) => [eventId, at]),
    );
    if ([...published.keys()].every((id) => arrived.has(id))) {
      return [...published].map(([id, at]) => arrived.get(id) - at);
    }
    if (Date.now() > until) throw new Error('Not all events arrived.');
    await pause(200);
  }
}

try {
  await webhooks.addEndpoint(webhooks.client.clientId, `http://127.0.0.1:${port}/healthy`);
  const dead = [];
  for (let index = 0; index < ORGANIZATIONS; index += 1) dead.push(await deadClient());
  await webhooks.worker();
  await latencies(3);
  const alone = await latencies(SECONDS);
  const beside = await latencies(SECONDS, () =>
    publish(DEAD_RATE, SECONDS, (index) => dead[index % dead.length]),
  );

  const row = (label, values) => [
    label,
    ...[0.5, 0.95, 1].map((share) => `${percentile(values, share).toFixed(0)} ms`),
  ];
  reportTable('webhook-dead-endpoints', {
    title: `Webhook latency of a healthy endpoint at ${RATE} events/s beside endpoints of other organizations that never respond, one worker`,
    goal: 'p95 below 250 ms',
    columns: ['endpoints', 'p50', 'p95', 'maximum'],
    rows: [
      row('one healthy endpoint', alone),
      row(
        `plus ${ORGANIZATIONS * ENDPOINTS} dead ones of ${ORGANIZATIONS} organizations, from their first event`,
        beside,
      ),
    ],
  });
} finally {
  await webhooks.close();
  await bench.close();
}
