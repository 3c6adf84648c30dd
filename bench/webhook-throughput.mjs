/** Measures durable deliveries per second of one worker, compared with a loop of `undici.request` with the same signatures. */
import { setTimeout as pause } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { Agent, request, setGlobalDispatcher } from 'undici';
import { deliveryHeaders } from '../dist/src/modules/webhooks/signing/delivery-headers.js';
import { reportTable } from './support/report.mjs';
import { EXAMPLE_EVENT, openWebhooks } from './support/webhooks.mjs';
import { openWorkbench } from './support/workbench.mjs';

const ROUNDS = Number(process.env.ROUNDS ?? 3);
const DELIVERIES = Number(process.env.DELIVERIES ?? 40_000);
/** All endpoints belong to one organization, which can use half of the worker's slots for concurrent attempts. */
const ENDPOINTS = 200;
const CONNECTIONS = 256;

const bench = await openWorkbench();
const webhooks = await openWebhooks(bench);
const { client, database, secret } = webhooks;
const target = `http://127.0.0.1:${webhooks.ports[0]}`;
setGlobalDispatcher(new Agent({ connections: CONNECTIONS }));

/** Returns the deliveries per second when the queue is full at the start of the worker. */
async function durable() {
  const events = DELIVERIES / ENDPOINTS;
  for (let index = 0; index < events; index += 10) {
    await Promise.all(Array.from({ length: 10 }, () => webhooks.publish(EXAMPLE_EVENT, client)));
  }
  await database.query('VACUUM ANALYZE webhook_delivery');
  const worker = await webhooks.worker();
  const waiting = await waitingNow();
  const begin = performance.now();
  while ((await waitingNow()) > 0) await pause(100);
  const rate = waiting / ((performance.now() - begin) / 1000);
  await worker.stop();
  return rate;
}

async function waitingNow() {
  const { rows } = await database.query('SELECT count(*)::integer AS waiting FROM webhook_delivery');
  return rows[0].waiting;
}

/** Sends the same requests with undici only: without storage, log entries or retries. */
async function bare() {
  const body = Buffer.from(JSON.stringify(EXAMPLE_EVENT));
  const begin = performance.now();
  let sent = 0;
  const loop = async () => {
    while (sent < DELIVERIES) {
      sent += 1;
      const { event, sessionId } = EXAMPLE_EVENT;
      const headers = deliveryHeaders({
        eventId: randomUUID(),
        event,
        sessionId,
        body,
        now: new Date(),
        secret,
      });
      const response = await request(`${target}/bare`, { method: 'POST', headers, body });
      await response.body.dump();
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, loop));
  return DELIVERIES / ((performance.now() - begin) / 1000);
}

const median = (values) => [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)];

try {
  for (let index = 0; index < ENDPOINTS; index += 1) {
    await webhooks.addEndpoint(client.clientId, `${target}/${index}`);
  }
  const rates = { product: [], comparison: [] };
  await bare();
  await durable();
  for (let round = 1; round <= ROUNDS; round += 1) {
    rates.comparison.push(await bare());
    rates.product.push(await durable());
    const [comparison, product] = [rates.comparison.at(-1), rates.product.at(-1)];
    console.error(`round ${round}: ${product.toFixed(0)}/s, comparison ${comparison.toFixed(0)}/s`);
  }
  const [product, comparison] = [median(rates.product), median(rates.comparison)];
  reportTable('webhook-throughput', {
    title:
      'Durable webhook deliveries of one worker, compared with a loop of signed requests without durability',
    goal: 'ratio at least 0.15',
    columns: ['median', 'product', 'comparison', 'ratio'],
    rows: [
      [
        'deliveries',
        `${product.toFixed(0)} /s`,
        `${comparison.toFixed(0)} /s`,
        (product / comparison).toFixed(2),
      ],
    ],
  });
} finally {
  await webhooks.close();
  await bench.close();
}
