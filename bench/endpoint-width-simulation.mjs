/**
 * Simulates rules that adapt the number of concurrent attempts to one endpoint (its width) against models of receivers.
 * It needs neither a database nor a network, and prints the same table on every run. The chosen rule is the one of the
 * service; see docs/decisions/0019-adaptive-endpoint-width.md.
 *
 * An attempt occupies its place until it is settled, 5 to 25 ms after the first unsettled attempt of its process ended.
 */
import { WIDTH_RULE } from '../dist/src/modules/webhooks/queue/endpoint-width.js';
import '../test/support/runner/register-typescript.mjs';
import { Heap, randomSource } from './support/simulation.mjs';

const { adaptWidth } = await import('../test/support/webhooks/adapted-width.ts');

const PROCESSES = Number(process.env.PROCESSES ?? 2);
const SEED = Number(process.env.SEED ?? 7);

const MAX = 100;
const START = WIDTH_RULE.startWidth;
const TIMEOUT = 10_000;

const clamp = (low, value, high) => Math.max(low, Math.min(value, high));
const fixed = (width) => ({ start: () => ({ width }), settle: (lane) => lane });

/** Rules by name. `settle` receives the state of the lane and a batch, and returns the new state. */
const RULES = {
  'fixed 4': fixed(4),
  'fixed 100': fixed(MAX),
  AIMD: {
    start: () => ({ width: START }),
    settle: ({ width }, { succeeded, failed }) => ({
      width: clamp(1, Math.sqrt(width ** 2 + 2 * succeeded) * 0.5 ** Math.min(failed, 1), MAX),
    }),
  },
  'slow start': {
    start: () => ({ width: START, threshold: MAX }),
    settle({ width, threshold }, { succeeded, failed }) {
      if (failed > 0) return { width: Math.max(1, width / 2), threshold: Math.max(1, width / 2) };
      const doubling = clamp(0, threshold - width, succeeded);
      const grown = Math.sqrt((width + doubling) ** 2 + 2 * (succeeded - doubling));
      return { width: Math.min(grown, MAX), threshold };
    },
  },
  gradient: {
    start: () => ({ width: START }),
    settle({ width, short, long }, { succeeded, failed, latencySum }) {
      const average = latencySum / succeeded;
      const shortNow = succeeded === 0 ? short : ewma(short, average, succeeded / 16);
      const longNow = succeeded === 0 ? long : Math.min(ewma(long, average, succeeded / 600), shortNow * 2);
      if (failed > 0) return { width: Math.max(1, width / 2), short: shortNow, long: longNow };
      const gradient = clamp(0.5, (1.5 * longNow) / shortNow, 1);
      const target = width * gradient + Math.sqrt(width);
      return {
        width: clamp(1, width + (target - width) * (succeeded / width), MAX),
        short: shortNow,
        long: longNow,
      };
    },
  },
  chosen: {
    start: () => ({ width: START, ceiling: null, baseline: null, usualFailures: 0, allowedFailures: 0 }),
    settle: (lane, { latencySum, ...batch }) =>
      adaptWidth(lane, { ...batch, latency: latencySum / (batch.succeeded || 1) }, MAX),
  },
};

function ewma(before, value, weight) {
  return before == null ? value : before + (value - before) * (1 - Math.exp(-weight));
}

// Receivers: a function of the time at which the attempt starts that returns its latency and whether it succeeds.

const always = (latency) => () => () => ({ latency, succeeds: true });

/** Serves as many requests as it has workers; the others wait. */
const queueing = (workers, service) => () => {
  const freeAt = Array(workers).fill(0);
  return (now) => {
    const worker = freeAt.indexOf(Math.min(...freeAt));
    freeAt[worker] = Math.max(now, freeAt[worker]) + service;
    return { latency: freeAt[worker] - now, succeeds: true };
  };
};

/** Responds with 503 after 2 ms to all requests beyond its limit. */
const limited = (limit, service) => () => {
  let running = [];
  return (now) => {
    running = running.filter((end) => end > now);
    if (running.length >= limit) return { latency: 2, succeeds: false };
    running.push(now + service);
    return { latency: service, succeeds: true };
  };
};

const noisy = (mean, sigma) => (random) => () => ({
  latency: mean * Math.exp(sigma * random.normal() - sigma ** 2 / 2),
  succeeds: true,
});

/** Does not respond from one time to another, nor to requests that it got shortly before. */
const hanging = (from, until, latency) => () => (now) =>
  now + latency > from && now < until ? { latency: Infinity, succeeds: false } : { latency, succeeds: true };

const changing = (at, before, after) => () => (now) => ({
  latency: now < at ? before : after,
  succeeds: true,
});

const failing = (share, latency) => (random) => () => ({ latency, succeeds: random.uniform() >= share });

const SCENARIOS = [
  { name: '1 ms, backlog of 5,000', receiver: always(1), backlog: 5000, seconds: 200 },
  { name: '1 ms, 200/s', receiver: always(1), rate: 200, seconds: 60 },
  { name: '100 ms, 300/s', receiver: always(100), rate: 300, seconds: 60 },
  { name: '8 workers, 20 ms, backlog of 5,000', receiver: queueing(8, 20), backlog: 5000, seconds: 200 },
  { name: '8 workers, 20 ms, 200/s', receiver: queueing(8, 20), rate: 200, seconds: 60 },
  { name: '503 beyond 10, 20 ms, backlog of 5,000', receiver: limited(10, 20), backlog: 5000, seconds: 200 },
  { name: '503 beyond 10, 20 ms, 200/s', receiver: limited(10, 20), rate: 200, seconds: 60 },
  { name: 'never responds, 200/s', receiver: hanging(0, Infinity, 1), rate: 200, seconds: 60 },
  {
    name: 'hangs from 20 s to 80 s, 100 ms, 200/s',
    receiver: hanging(20_000, 80_000, 100),
    rate: 200,
    seconds: 180,
    wideFrom: 80_000,
  },
  { name: '1 worker, 20 ms, 40/s', receiver: queueing(1, 20), rate: 40, seconds: 120 },
  { name: '1 worker, 20 ms, backlog of 2,000', receiver: queueing(1, 20), backlog: 2000, seconds: 200 },
  { name: 'log-normal 30 ms (σ 0.5), 200/s', receiver: noisy(30, 0.5), rate: 200, seconds: 120 },
  { name: 'log-normal 30 ms (σ 1), 200/s', receiver: noisy(30, 1), rate: 200, seconds: 120 },
  {
    name: 'log-normal 30 ms (σ 0.5), backlog of 5,000',
    receiver: noisy(30, 0.5),
    backlog: 5000,
    seconds: 200,
  },
  {
    name: '20 ms, from 30 s on 120 ms, 200/s',
    receiver: changing(30_000, 20, 120),
    rate: 200,
    seconds: 120,
  },
  { name: '1 % random failures, 100 ms, 300/s', receiver: failing(0.01, 100), rate: 300, seconds: 120 },
  ...[2, 5, 15].flatMap((percent) => [
    {
      name: `${percent} % random failures, 1 ms, backlog of 5,000`,
      receiver: failing(percent / 100, 1),
      backlog: 5000,
      seconds: 200,
    },
    {
      name: `${percent} % random failures, 100 ms, 300/s`,
      receiver: failing(percent / 100, 100),
      rate: 300,
      seconds: 120,
    },
  ]),
  { name: '503 beyond 3, 20 ms, backlog of 2,000', receiver: limited(3, 20), backlog: 2000, seconds: 200 },
];

function simulate(rule, { receiver, backlog, rate, seconds, wideFrom = 0 }) {
  const random = randomSource(SEED);
  const respond = receiver(random);
  const end = seconds * 1000;
  const events = new Heap();
  const waiting = backlog ? Array(backlog).fill(0) : [];
  let next = 0;
  let lane = rule.start();
  let consecutiveFailures = 0;
  let inFlight = 0;
  const unsettled = Array.from({ length: PROCESSES }, () => []);
  const waits = [];
  const latencies = [];
  let failures = 0;
  let occupied = 0;
  let before = 0;
  let wideAt;
  let lastSuccess = 0;

  const start = (now) => {
    while (next < waiting.length && inFlight < Math.floor(lane.width)) {
      waits.push(now - waiting[next]);
      next += 1;
      inFlight += 1;
      const { latency, succeeds } = respond(now);
      const attempt = { latency: Math.min(latency, TIMEOUT), succeeds: succeeds && latency < TIMEOUT };
      events.push(now + attempt.latency, { type: 'end', attempt });
    }
  };
  const settle = (now, process) => {
    const batch = unsettled[process];
    unsettled[process] = [];
    const successes = batch.filter(({ succeeds }) => succeeds);
    const succeeded = successes.length;
    const failed = batch.length - succeeded;
    const latencySum = successes.reduce((sum, { latency }) => sum + latency, 0);
    lane = rule.settle(lane, { succeeded, failed, latencySum, inFlight, consecutiveFailures });
    consecutiveFailures = succeeded > 0 ? 0 : consecutiveFailures + failed;
    inFlight -= batch.length;
    if (now >= wideFrom && lane.width >= MAX / 2) wideAt ??= now - wideFrom;
  };
  const handle = {
    arrival(now) {
      waiting.push(now);
      events.push(now + random.exponential(1000 / rate), { type: 'arrival' });
    },
    end(now, { attempt }) {
      const process = Math.floor(random.uniform() * PROCESSES);
      if (attempt.succeeds) {
        latencies.push(attempt.latency);
        lastSuccess = now;
      } else failures += 1;
      if (unsettled[process].push(attempt) === 1) {
        events.push(now + 5 + 20 * random.uniform(), { type: 'settle', process });
      }
    },
    settle: (now, { process }) => settle(now, process),
  };

  if (rate) events.push(random.exponential(1000 / rate), { type: 'arrival' });
  start(0);
  for (let event = events.pop(); event && event.at <= end; event = events.pop()) {
    occupied += inFlight * (event.at - before);
    before = event.at;
    handle[event.value.type](event.at, event.value);
    start(event.at);
  }
  const unstarted = waiting.slice(next).map((arrived) => before - arrived);
  const allWaits = [...waits, ...unstarted].toSorted((left, right) => left - right);
  const duration = backlog ? lastSuccess : end;
  return {
    throughput: duration === 0 ? 0 : (latencies.length / duration) * 1000,
    waits: [0.5, 0.95, 0.99].map((share) => allWaits[Math.floor(share * (allWaits.length - 1))]),
    latency:
      latencies.length === 0 ? undefined : latencies.reduce((sum, each) => sum + each, 0) / latencies.length,
    occupied: occupied / before,
    failures,
    wideAt,
    width: Math.floor(lane.width),
  };
}

const duration = (milliseconds) => {
  if (milliseconds === undefined) return '-';
  return milliseconds < 1000 ? `${milliseconds.toFixed(0)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
};

const rows = SCENARIOS.flatMap((scenario) =>
  Object.entries(RULES).map(([name, rule]) => {
    const result = simulate(rule, scenario);
    return [
      scenario.name,
      name,
      result.throughput.toFixed(0),
      result.waits.map(duration).join(' / '),
      duration(result.latency),
      result.occupied.toFixed(1),
      String(result.failures),
      name.startsWith('fixed') ? '-' : duration(result.wideAt),
      String(result.width),
    ];
  }),
);
const columns = [
  'receiver and load',
  'rule',
  'delivered/s',
  'wait p50 / p95 / p99',
  'mean latency',
  'mean in flight',
  'failures',
  `width ${MAX / 2} after`,
  'last width',
];
const widths = columns.map((column, index) =>
  Math.max(column.length, ...rows.map((row) => row[index].length)),
);
const line = (cells) => `| ${cells.map((cell, index) => cell.padEnd(widths[index])).join(' | ')} |`;
console.log(line(columns));
console.log(line(widths.map((width) => '-'.repeat(width))));
for (const [index, row] of rows.entries()) {
  const isFirst = index % Object.keys(RULES).length === 0;
  console.log(line(isFirst ? row : ['', ...row.slice(1)]));
}
