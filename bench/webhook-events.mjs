/**
 * Measures the event API from `POST /events` to the receiver's socket: rates, arrival times, CPU time and memory.
 *
 *     node bench/webhook-events.mjs [--only rate,steady,…] [--rounds 3]
 */
import { parseArgs } from 'node:util';
import { setTimeout as pause } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { Agent, Pool, request, setGlobalDispatcher } from 'undici';
import { deliveryHeaders } from '../dist/src/modules/webhooks/signing/delivery-headers.js';
import { autocannon } from './support/load.mjs';
import { freePort, start } from './support/processes.mjs';
import { reportTable } from './support/report.mjs';
import { cpuOf, memoryOf } from './support/usage.mjs';
import { createServiceToken } from './support/webhooks.mjs';
import { openWorkbench } from './support/workbench.mjs';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    keep: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
  },
});
const ROUNDS = Number(options.rounds);
const EVENTS = 5_000;
const CONNECTIONS = 32;
const WORKER = new URL('../dist/src/worker.js', import.meta.url).pathname;
const RECEIVER = new URL('./baselines/webhook-receiver.mjs', import.meta.url).pathname;
const SETTINGS = { WEBHOOK_TARGETS: 'any' };
/** About 400 bytes as a webhook. */
const EVENT = {
  event: 'CARD_UPDATED',
  external_user_id: 'user-8f3a',
  session_id: undefined,
  task_id: 25_605,
  merchant_id: 16,
  data: { card_id: '81n9al10a0ayn13' },
};

setGlobalDispatcher(new Agent({ connections: 256 }));
const bench = await openWorkbench();
const receiverPort = await freePort();
const journal = join(bench.directory, 'arrivals.txt');
const receiver = await start(RECEIVER, {
  environment: { PORT: String(receiverPort), JOURNAL: journal },
  ready: 'ready',
});
const target = `http://127.0.0.1:${receiverPort}`;

let service = await bench.service(SETTINGS);
const { settings, databaseUrl } = service;
const { client_id: clientId, secret } = service.credentials.development;
const database = new pg.Pool({ connectionString: databaseUrl, max: 2 });
const postmaster = Number(
  (await database.query("SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1) AS pid")).rows[0].pid,
);
const authorization = `Bearer ${await createServiceToken(settings)}`;
const sessionId = await createSession();
const body = JSON.stringify({ ...EVENT, client_id: clientId, session_id: sessionId });
const headers = { authorization, 'content-type': 'application/json' };
const rows = [];

async function createSession() {
  const response = await request(`${service.baseUrl}/session/create`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ type: 'link', external_user_id: EVENT.external_user_id }),
  });
  const { session: id, ...rest } = await response.body.json();
  if (!id) throw new Error(JSON.stringify(rest));
  return id;
}

const arrivals = () =>
  readFileSync(journal, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [eventId, at] = line.split(' ');
      return { eventId, at: Number(at) };
    });

async function until(condition, milliseconds = 120_000) {
  const end = Date.now() + milliseconds;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`Not reached: ${condition}`);
    await pause(50);
  }
}

/** Replaces the client's endpoints and makes each proven with one event. */
async function useEndpoints(paths) {
  await database.query('DELETE FROM webhook_endpoint WHERE client_id = $1', [clientId]);
  for (const path of paths)
    await database.query(
      'INSERT INTO webhook_endpoint (id, client_id, url, created_at) VALUES ($1, $2, $3, now())',
      [randomUUID(), clientId, target + path],
    );
  for (let index = 0; index < 20; index += 1) await publish();
  await settled();
}

/** Deliveries that a receiver does not respond to, or has refused, wait for longer than a benchmark takes. */
const settled = () =>
  until(
    async () =>
      (
        await database.query(
          `SELECT FROM webhook_delivery
            WHERE url NOT LIKE '%/dead%' AND (url NOT LIKE '%/refuse%' OR attempts = 0 OR claim_id IS NOT NULL) LIMIT 1`,
        )
      ).rowCount === 0,
  );

async function publish() {
  const at = performance.timeOrigin + performance.now();
  const response = await request(`${service.baseUrl}/events`, { method: 'POST', headers, body });
  const { event_id: id, ...rest } = await response.body.json();
  if (response.statusCode !== 200) throw new Error(JSON.stringify(rest));
  return { id, at };
}

const processes = () => [service.pid, ...(service.worker ? [service.worker.pid] : []), postmaster];

/** Sends 5,000 events over 32 connections. */
async function rate(endpoints) {
  await useEndpoints(Array.from({ length: endpoints }, (_, index) => `/${index}`));
  const count = Math.ceil(EVENTS / (endpoints >= 100 ? 10 : 1));
  const before = arrivals().length;
  const cpu = cpuOf(processes());
  const begin = Date.now();
  const result = await autocannon({
    url: `${service.baseUrl}/events`,
    method: 'POST',
    headers,
    body,
    connections: CONNECTIONS,
    amount: count,
  });
  if (result.non2xx + result.errors > 0)
    throw new Error(`${result.non2xx + result.errors} events were refused`);
  // The load generator only knows full seconds.
  const accepted = ((await lastEvent()) - begin) / 1000;
  await until(() => arrivals().length >= before + count * endpoints);
  const delivered =
    (arrivals()
      .slice(before)
      .reduce((last, { at }) => Math.max(last, at), 0) -
      begin) /
    1000;
  await settled();
  const created = await createdEvents();
  const delays = arrivals()
    .slice(before)
    .map(({ eventId, at }) => at - created.get(eventId))
    .sort((left, right) => left - right);
  return {
    accepted: count / accepted,
    delivered: (count * endpoints) / delivered,
    p50: delays[Math.floor(delays.length / 2)],
    cpu: (cpuOf(processes()) - cpu) / count,
    memory: memoryOf(service.pid),
  };
}

async function lastEvent() {
  const {
    rows: [row],
  } = await database.query('SELECT max(created_at) AS last FROM webhook_event');
  return row.last.getTime();
}

/** Returns when each event was accepted, by its ID. */
async function createdEvents() {
  const { rows: events } = await database.query('SELECT id, created_at FROM webhook_event');
  return new Map(events.map(({ id, created_at: at }) => [id, at.getTime()]));
}

/** Publishes at a steady rate. Returns the milliseconds from the request to the arrival, and the CPU time per event. */
async function steady(perSecond, seconds, path = '/0') {
  await useEndpoints([path]);
  const cpu = cpuOf(processes());
  const database = cpuOf([postmaster]);
  const work = [];
  const begin = performance.now();
  for (let index = 0; index < perSecond * seconds; index += 1) {
    const due = begin + (index * 1000) / perSecond;
    if (due > performance.now()) await pause(due - performance.now());
    work.push(publish());
  }
  const published = await Promise.all(work);
  let arrived;
  await until(() => {
    arrived = new Map(arrivals().map(({ eventId, at }) => [eventId, at]));
    return published.every(({ id }) => arrived.has(id));
  });
  await settled();
  const delays = published.map(({ id, at }) => arrived.get(id) - at).sort((left, right) => left - right);
  const at = (share) => delays[Math.floor((delays.length - 1) * share)];
  return {
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    cpu: (cpuOf(processes()) - cpu) / published.length,
    database: (cpuOf([postmaster]) - database) / published.length,
    memory: memoryOf(service.pid),
  };
}

/**
 * Publishes at a steady rate to an endpoint that refuses some of the first attempts, and locks the request log
 * meanwhile, so that no attempt is settled. Returns the seconds from the release of the lock until no first attempt waits.
 */
async function blocked(perSecond, percent, { before = 30, blockedFor = 20 } = {}) {
  await useEndpoints([percent > 0 ? `/refuse-${percent}` : '/0']);
  let isRunning = true;
  const publisher = (async () => {
    const work = [];
    const begin = performance.now();
    for (let index = 0; isRunning; index += 1) {
      const due = begin + (index * 1000) / perSecond;
      if (due > performance.now()) await pause(due - performance.now());
      work.push(publish());
    }
    await Promise.all(work);
  })();
  const state = async () =>
    (
      await database.query(
        `SELECT (SELECT count(*)::integer FROM webhook_delivery WHERE attempts = 0) AS waiting,
                (SELECT row_to_json(lane) FROM webhook_lane lane ORDER BY last_success_at DESC LIMIT 1) AS lane`,
      )
    ).rows[0];
  const trace = async (label) => {
    if (!options.trace) return;
    const { waiting, lane } = await state();
    console.error(label, waiting, lane.in_flight, lane.adaptive_width, lane.width_ceiling, lane.baseline_ms);
  };
  for (let second = 0; second < before; second += 5) {
    await pause(5_000);
    await trace(`before ${second}`);
  }
  const lock = await database.connect();
  await lock.query('BEGIN; LOCK TABLE request_log IN ACCESS EXCLUSIVE MODE');
  await pause(blockedFor * 1000);
  const { waiting } = await state();
  await lock.query('COMMIT');
  lock.release();
  const released = performance.now();
  await until(async () => {
    await trace(`${((performance.now() - released) / 1000).toFixed(1)} s`);
    if (options.trace) await pause(500);
    return (await state()).waiting <= 2;
  });
  const seconds = (performance.now() - released) / 1000;
  isRunning = false;
  await publisher;
  return { waiting, seconds };
}

/** Signs and posts in a loop, without storage. */
async function bareLoop() {
  const bytes = Buffer.from(body);
  const pool = new Pool(target, { connections: 64 });
  const begin = performance.now();
  let sent = 0;
  const loop = async () => {
    while (sent < EVENTS) {
      sent += 1;
      const signed = deliveryHeaders({
        eventId: randomUUID(),
        event: EVENT.event,
        sessionId,
        body: bytes,
        now: new Date(),
        secret,
        otherSecrets: [],
      });
      const response = await pool.request({ path: '/bare', method: 'POST', headers: signed, body: bytes });
      await response.body.dump();
    }
  };
  await Promise.all(Array.from({ length: 64 }, loop));
  await pool.close();
  return EVENTS / ((performance.now() - begin) / 1000);
}

async function expressInsert() {
  const comparison = await bench.program('express-insert.mjs', { DATABASE_URL: databaseUrl });
  const run = (amount) =>
    autocannon({
      url: comparison.baseUrl,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      connections: CONNECTIONS,
      amount,
    });
  await run(EVENTS);
  const begin = Date.now();
  await run(EVENTS);
  const result = EVENTS / ((Date.now() - begin) / 1000);
  await comparison.stop();
  return result;
}

const batchBody = JSON.stringify({ events: Array.from({ length: 500 }, () => JSON.parse(body)) });

async function batches() {
  await useEndpoints(['/0']);
  const cpu = cpuOf(processes());
  const begin = Date.now();
  const result = await autocannon({
    url: `${service.baseUrl}/events/batch`,
    method: 'POST',
    headers,
    body: batchBody,
    connections: 2,
    amount: 40,
  });
  if (result.non2xx > 0) throw new Error(`${result.non2xx} batches were refused`);
  const accepted = 20_000 / (((await lastEvent()) - begin) / 1000);
  await settled();
  const delivered = 20_000 / ((Date.now() - begin) / 1000);
  return { accepted, delivered, cpu: (cpuOf(processes()) - cpu) / 20_000 };
}

/**
 * Inserts events and a delivery for each of them, 500 in one statement, as a program without keys, claims and notifications
 * would. Returns the events per second.
 */
async function bareUnnest() {
  const {
    rows: [endpoint],
  } = await database.query('SELECT id, url FROM webhook_endpoint WHERE client_id = $1', [clientId]);
  const bytes = Buffer.from(body);
  const begin = performance.now();
  let statements = 0;
  const loop = async () => {
    while (statements < 40) {
      statements += 1;
      const ids = Array.from({ length: 500 }, () => randomUUID());
      await database.query(
        `WITH event AS (
           INSERT INTO webhook_event (id, created_at, client_id, environment, event, session_id, task_id, external_user_id, body)
           SELECT id, now(), $2, 'development', $3, $4, $5, $6, $7 FROM unnest($1::uuid[]) AS id
           RETURNING id, created_at)
         INSERT INTO webhook_delivery (endpoint_id, event_id, event_created_at, url, attempts_allowed, due_at)
         SELECT $8, id, created_at, $9, 6, now() FROM event`,
        [
          ids,
          clientId,
          EVENT.event,
          sessionId,
          EVENT.task_id,
          EVENT.external_user_id,
          bytes,
          endpoint.id,
          endpoint.url,
        ],
      );
    }
  };
  await Promise.all([loop(), loop()]);
  return 20_000 / ((performance.now() - begin) / 1000);
}

/** Pauses the endpoint while events are published, then resumes it. Returns rate and CPU time of the delivery. */
async function backlog(events) {
  await useEndpoints(['/0']);
  const pauseUntil = (time) =>
    database.query(
      `UPDATE webhook_lane SET paused_at = ${time}, next_due = now()
        WHERE endpoint_id IN (SELECT id FROM webhook_endpoint WHERE client_id = $1)`,
      [clientId],
    );
  await pauseUntil('now()');
  const result = await autocannon({
    url: `${service.baseUrl}/events/batch`,
    method: 'POST',
    headers,
    body: batchBody,
    connections: 2,
    amount: events / 500,
  });
  if (result.non2xx > 0) throw new Error(`${result.non2xx} batches were refused`);
  const cpu = cpuOf(processes());
  const begin = Date.now();
  await pauseUntil('NULL');
  await settled();
  return {
    delivered: events / ((Date.now() - begin) / 1000),
    cpu: (cpuOf(processes()) - cpu) / events,
  };
}

/**
 * Kills the process in the middle of a load. Returns the seconds from its next start to the last arrival, and how many events
 * arrived twice. The receiver had not responded to some of these when the process was killed: no sender can avoid them.
 */
async function recovery() {
  const responseTime = 50;
  await useEndpoints([`/after-${responseTime}`]);
  await database.query('DELETE FROM webhook_event');
  const loading = autocannon({
    url: `${service.baseUrl}/events`,
    method: 'POST',
    headers,
    body,
    connections: CONNECTIONS,
    duration: 2,
  });
  await pause(1_000);
  service.kill('SIGKILL');
  const killed = performance.timeOrigin + performance.now();
  await Promise.all([service.ended, loading]);
  const { rows } = await database.query('SELECT id FROM webhook_event');
  const begin = Date.now();
  service = await bench.service(SETTINGS);
  let arrived;
  await until(() => {
    arrived = new Map(arrivals().map(({ eventId, at }) => [eventId, at]));
    return rows.every(({ id }) => arrived.has(id));
  });
  await settled();
  const last = rows.reduce((latest, { id }) => Math.max(latest, arrived.get(id)), 0);
  const stored = new Set(rows.map(({ id }) => id));
  const received = arrivals().filter(({ eventId }) => stored.has(eventId));
  const beforeKill = received.filter(({ at }) => at < killed);
  const again = new Set(received.filter(({ at }) => at >= killed).map(({ eventId }) => eventId));
  return {
    events: rows.length,
    duplicates: received.length - stored.size,
    responded: beforeKill.filter(({ eventId, at }) => again.has(eventId) && at + responseTime < killed)
      .length,
    seconds: Math.max(0, last - begin) / 1000,
  };
}

const median = (values) => [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)];
const wants = (name) => !options.only || options.only.split(',').includes(name);
async function rounds(run) {
  const results = [];
  for (let round = 0; round < ROUNDS; round += 1) results.push(await run());
  return Object.fromEntries(
    Object.keys(results[0]).map((key) => [key, median(results.map((result) => result[key]))]),
  );
}
const perSecond = (value) => `${value.toFixed(0)} /s`;
const milliseconds = (value) => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
function add(label, result, goal) {
  rows.push([label, result, goal]);
  console.error(`${label}: ${result}`);
}

async function scenarios(processesUsed) {
  if (wants('warm')) await rate(1);
  for (const endpoints of [1, 10, 100]) {
    if (!wants('rate') && !wants(`rate${endpoints}`)) continue;
    const { accepted, delivered, p50, cpu, memory } = await rounds(() => rate(endpoints));
    add(
      `${processesUsed}, ${endpoints} endpoints: accepted, delivered, arrival p50, CPU per event, memory`,
      `${perSecond(accepted)}, ${perSecond(delivered)}, ${milliseconds(p50)}, ${cpu.toFixed(2)} ms, ${memory.toFixed(0)} MB`,
      endpoints === 1 ? 'delivered 0.95 of accepted; p50 150 ms; 1.0 ms' : 'no worse per delivery',
    );
  }
  for (const [rate, goal] of [
    [50, '4.0 ms'],
    [200, '15, 40, 80 ms; 2.0 ms'],
  ]) {
    if (!wants('steady') && !wants(`steady${rate}`)) continue;
    const { p50, p95, p99, cpu, database: share } = await rounds(() => steady(rate, 15));
    add(
      `${processesUsed}, ${rate}/s: arrival p50, p95, p99; CPU per event, of which PostgreSQL`,
      `${[p50, p95, p99].map(milliseconds).join(', ')}; ${cpu.toFixed(2)} ms, ${share.toFixed(2)} ms`,
      goal,
    );
  }
  if (wants('memory')) {
    const { p95, memory } = await rounds(() => steady(1_000, 10));
    add(
      `${processesUsed}, 1,000/s: arrival p95, memory`,
      `${milliseconds(p95)}, ${memory.toFixed(0)} MB`,
      '250 MB',
    );
  }
  if (wants('slow')) {
    const { p50, p95 } = await rounds(() => steady(300, 15, '/after-100'));
    add(
      `${processesUsed}, 300/s, receiver takes 100 ms: arrival p50, p95`,
      [p50, p95].map(milliseconds).join(', '),
      'p95 under 50 ms',
    );
  }
  if (wants('backlog')) {
    for (const events of [5_000, 100_000]) {
      const { delivered, cpu } = await rounds(() => backlog(events));
      add(
        `${processesUsed}, backlog of ${events.toLocaleString('en')}: delivered, CPU per event`,
        `${perSecond(delivered)}, ${cpu.toFixed(2)} ms`,
        'the same for both',
      );
    }
  }
  if (wants('blocked')) {
    for (const percent of [0, 2, 5]) {
      const { waiting, seconds } = await rounds(() => blocked(50, percent));
      add(
        `${processesUsed}, 50/s, settlements blocked for 20 s, ${percent} % of first attempts refused: waiting, until sent`,
        `${waiting}, ${seconds.toFixed(1)} s`,
        '5 s',
      );
    }
  }
  if (wants('batch')) {
    const { accepted, delivered, cpu } = await rounds(batches);
    add(
      `${processesUsed}, batches of 500: accepted, delivered, CPU per event`,
      `${perSecond(accepted)}, ${perSecond(delivered)}, ${cpu.toFixed(2)} ms`,
      '10,000/s accepted',
    );
  }
}

try {
  if (wants('recovery')) {
    const { events, duplicates, responded, seconds } = await rounds(recovery);
    add(
      `killed after ${events} events: from the restart to the last arrival; duplicates, and those to which the receiver had responded`,
      `${seconds.toFixed(1)} s; ${duplicates}, ${responded}`,
      '3 s; 16 of 2,000',
    );
  }
  if (wants('bare')) {
    await bareLoop();
    add(
      'bare loop: sign and post',
      perSecond((await rounds(async () => ({ rate: await bareLoop() }))).rate),
      '',
    );
    add(
      'bare Express with one INSERT',
      perSecond((await rounds(async () => ({ rate: await expressInsert() }))).rate),
      '',
    );
  }
  await scenarios('one process');
  if (wants('unnest')) {
    await useEndpoints(['/0']);
    // Without deliveries to an endpoint that the service reads: the statements alone.
    await service.stop();
    const measured = await rounds(async () => ({ rate: await bareUnnest() }));
    add('bare statements, 500 events and deliveries each', perSecond(measured.rate), '');
    await database.query('DELETE FROM webhook_delivery');
    service = await bench.service(SETTINGS);
  }
  if (wants('split')) {
    await service.stop();
    service = await bench.service({ ...SETTINGS, BACKGROUND_WORK: 'off' });
    service.worker = await start(WORKER, {
      environment: { ...settings, ...SETTINGS },
      ready: 'The background work is running',
    });
    await scenarios('API and worker apart');
    await service.worker.stop();
  }
  reportTable('webhook-events', {
    title: 'Event API, from POST /events to the receiver',
    goal: 'see the table',
    columns: ['what', 'measured', 'to reach'],
    rows,
    keep: options.keep,
  });
} finally {
  await database.end();
  await receiver.stop();
  await bench.close();
}
