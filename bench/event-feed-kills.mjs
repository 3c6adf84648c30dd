/**
 * Publishes events at a steady rate while processes that publish and serve the event feed are killed (SIGKILL) in turn, and so is a
 * program that reads the feed, at random. A request that fails is repeated with the same idempotency key. The reader must get each
 * event once, in the order of the positions.
 *
 * `node bench/event-feed-kills.mjs --kills 10 --rate 200`
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { freePort, start } from './support/processes.mjs';
import { reportTable } from './support/report.mjs';
import { createServiceToken } from './support/webhooks.mjs';
import { basic, openWorkbench } from './support/workbench.mjs';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '10' },
    rate: { type: 'string', default: '200' },
    keep: { type: 'boolean', default: false },
  },
});
const [kills, rate] = [values.kills, values.rate].map(Number);
const PUBLISHERS = 8;
/** Milliseconds without a further event. */
const TIMEOUT = 60_000;
const MAIN = new URL('../dist/src/main.js', import.meta.url).pathname;
const READER = new URL('support/event-feed-reader.mjs', import.meta.url).pathname;

const bench = await openWorkbench();
const first = await bench.service({ BACKGROUND_WORK: 'off' });
await first.stop();
const { development } = first.credentials;
const token = await createServiceToken(first.settings);
const database = new pg.Pool({ connectionString: first.databaseUrl, max: 1 });
const processes = [{ port: await freePort() }, { port: await freePort() }];
const urlOf = ({ port }) => `http://127.0.0.1:${port}`;
const journal = join(bench.directory, 'feed.jsonl');

async function startProcess(index) {
  const { port } = processes[index];
  const environment = { ...first.settings, BACKGROUND_WORK: 'off', LOG_LEVEL: 'error', PORT: String(port) };
  processes[index] = { port, ...(await start(MAIN, { environment, ready: 'Listening on' })) };
}

const published = new Set();
let [repeated, readerKills] = [0, 0];

/** Repeats the request, at either process, until one responds with 200. */
async function publish(key) {
  for (let attempt = 0; ; attempt += 1) {
    const response = await fetch(`${urlOf(processes[(key + attempt) % 2])}/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        client_id: development.client_id,
        event: 'NEW_TRANSACTIONS_AVAILABLE',
        external_user_id: `user-${key % 100}`,
        merchant_id: 16,
        idempotency_key: `key-${key}`,
      }),
      signal: AbortSignal.timeout(10_000),
    }).catch(() => undefined);
    const body = response && (await response.json().catch(() => undefined));
    if (response?.status === 200 && body) return published.add(body.event_id);
    if (response && response.status < 500) throw new Error(JSON.stringify(body));
    repeated += 1;
    await pause(50);
  }
}

let isPublishing = true;
/** Each publisher sends one event after the other; the publishers together have the rate. */
async function publishSteadily(publisher) {
  const began = performance.now();
  for (let count = 0; isPublishing; count += 1) {
    const due = began + (count * PUBLISHERS * 1_000) / rate;
    if (due > performance.now()) await pause(due - performance.now());
    await publish(count * PUBLISHERS + publisher);
  }
}

let isReading = true;
async function readWithRestarts() {
  while (isReading) {
    const reader = await start(READER, {
      environment: {
        JOURNAL: journal,
        AUTHORIZATION: basic(development),
        BASE_URLS: processes.map(urlOf).join(','),
      },
      ready: 'ready',
    });
    await Promise.race([pause(200 + Math.random() * 3_000), reader.ended]);
    reader.kill('SIGKILL');
    await reader.ended;
    readerKills += 1;
  }
}

const readIds = () =>
  existsSync(journal)
    ? readFileSync(journal, 'utf8')
        .split('\n')
        .slice(0, -1)
        .flatMap((line) => JSON.parse(line).ids)
    : [];

try {
  await Promise.all([startProcess(0), startProcess(1)]);
  const began = performance.now();
  const publishers = Array.from({ length: PUBLISHERS }, (_, index) => publishSteadily(index));
  const reading = readWithRestarts();
  for (let killed = 0; killed < kills; killed += 1) {
    const before = published.size;
    const enough = performance.now() + 3_000 + Math.random() * 2_000;
    while (published.size - before < rate || performance.now() < enough) await pause(50);
    processes[killed % 2].kill('SIGKILL');
    await processes[killed % 2].ended;
    console.error(`${killed + 1} kills, ${published.size} events, ${readIds().length} read`);
    await startProcess(killed % 2);
  }
  isPublishing = false;
  await Promise.all(publishers);
  const reached = published.size / ((performance.now() - began) / 1_000);
  const { rows } = await database.query(
    'SELECT id FROM webhook_event WHERE client_id = $1 ORDER BY position',
    [development.client_id],
  );
  let [read, since] = [readIds(), performance.now()];
  while (read.length < rows.length) {
    if (performance.now() - since > TIMEOUT)
      throw new Error(`${read.length} of ${rows.length} events were read, and no further one comes`);
    await pause(200);
    const now = readIds();
    if (now.length > read.length) [read, since] = [now, performance.now()];
  }
  isReading = false;
  await reading;
  read = readIds();
  const outOfOrder = read.findIndex((id, index) => id !== rows[index]?.id);
  const twice = read.length - new Set(read).size;
  const missing = [...published].filter((id) => !new Set(read).has(id)).length;
  reportTable('event-feed-kills', {
    title: `Event feed: ${PUBLISHERS} publishers, ${kills} × \`kill -9\` of a process, ${readerKills} of the reader`,
    goal: 'each event once and in order',
    columns: ['published', 'rate', 'requests repeated', 'read', 'twice', 'missing', 'first out of order'],
    rows: [
      [
        published.size,
        `${reached.toFixed(0)} /s`,
        repeated,
        read.length,
        twice,
        missing,
        outOfOrder === -1 ? 'none' : outOfOrder,
      ].map(String),
    ],
    keep: values.keep,
  });
  if (outOfOrder !== -1 || twice > 0 || missing > 0) process.exitCode = 1;
} finally {
  [isPublishing, isReading] = [false, false];
  for (const each of processes) await each.stop?.();
  await database.end();
  await bench.close();
}
