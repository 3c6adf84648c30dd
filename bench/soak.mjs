/**
 * Runs two API processes and two workers at half of their capacity for 15 minutes. Neither their memory nor the number of
 * their open files and handles may grow after the first three minutes.
 *
 * `MINUTES=15 node bench/soak.mjs`
 */
import { loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { startRedis } from './support/redis.mjs';
import { accessToken } from './support/dashboard-login.mjs';
import { metricsOf, openFleet } from './support/fleet.mjs';
import { openMixedLoad } from './support/mixed-load.mjs';
import { reportTable } from './support/report.mjs';
import { freePort } from './support/processes.mjs';
import { openWebhooks } from './support/webhooks.mjs';
import { openWorkbench } from './support/workbench.mjs';

const MINUTES = Number(process.env.MINUTES ?? 15);
const MINUTE = 60_000;
const SAMPLE_EVERY = 10_000;
/** Minutes: caches and pools fill during the warm-up. A window of two minutes is compared at the start and the end. */
const [WARM_UP, WINDOW] = [Math.min(3, MINUTES / 3), Math.min(2, MINUTES / 3)];
/** Maximum ratio of the RSS at the end to the RSS after the warm-up. */
const MAX_GROWTH = 1.1;
/** Connections to each API process. */
const CONNECTIONS = 16;
const SECONDS_AT_FULL_LOAD = 10;
/** Percentage of each kind of request. */
const SHARES = { token: 50, search: 30, event: 18, page: 2 };

const MEASURED = [
  ['RSS', 'process_resident_memory_bytes', 'MiB'],
  ['heap in use', 'nodejs_heap_size_used_bytes', 'MiB'],
  ['memory outside the heap', 'nodejs_external_memory_bytes', 'MiB'],
  ['open files', 'process_open_fds', ''],
  ['active handles', 'nodejs_active_handles_total', ''],
];
/** Number of open files or handles by which a process may grow. */
const MAX_EXTRA_HANDLES = 5;

const redis = await startRedis();
const bench = await openWorkbench();
const ports = [await freePort(), await freePort()];
const baseUrls = ports.map((port) => `http://127.0.0.1:${port}`);
const webhooks = await openWebhooks(bench, {
  receivers: 1,
  environment: {
    DASHBOARD_URL: baseUrls[0],
    DASHBOARD_REQUESTS_PER_MINUTE: '100000000',
    MCP_TOKEN_REQUESTS_PER_MINUTE: '100000000',
    ...(redis && { REDIS_URL: redis.url }),
  },
});
const fleet = openFleet(webhooks.settings);

try {
  await webhooks.addEndpoint(webhooks.client.clientId, `http://127.0.0.1:${webhooks.ports[0]}/hook`);
  const apis = await Promise.all(ports.map((port) => fleet.api({ environment: { PORT: String(port) } })));
  const workers = await Promise.all([fleet.worker(), fleet.worker()]);
  const members = [...apis, ...workers].toSorted((left, right) => (left.name < right.name ? -1 : 1));
  const login = () =>
    accessToken(
      { baseUrl: baseUrls[0], credentials: webhooks.credentials },
      'production',
      'request_logs:read',
    );
  let token = await login();
  const renewing = setInterval(() => void login().then((next) => (token = next)), 10 * MINUTE);
  const load = openMixedLoad({
    baseUrl: (number) => baseUrls[number % 2],
    clients: [webhooks.credentials.production, webhooks.credentials.development],
    developer: webhooks.credentials.development,
    token: () => token,
    connections: CONNECTIONS,
  });

  const capacity = await fullLoad(load);
  const rate = capacity / 2;
  const loadBefore = loadavg()[0];
  console.error(`${capacity.toFixed(0)} requests/s at full load; ${rate.toFixed(0)}/s from now on`);
  load.requests.length = 0;

  const samples = members.map(() => []);
  const counts = { requests: 0, failed: 0 };
  const rates = Object.fromEntries(
    Object.entries(SHARES).map(([kind, share]) => [kind, (rate * share) / 100]),
  );
  await load.during('soak', rates, async () => {
    const from = performance.now();
    while (performance.now() - from < MINUTES * MINUTE) {
      await pause(SAMPLE_EVERY);
      const minute = (performance.now() - from) / MINUTE;
      for (const [index, member] of members.entries()) {
        const metrics = await metricsOf(member);
        samples[index].push({ minute, values: MEASURED.map(([, metric]) => metrics(metric)) });
      }
      countFinishedRequests(load.requests, counts);
      if (samples[0].length % 6 === 0) {
        const sizes = samples.map((each) => Math.round(each.at(-1).values[0] / 2 ** 20));
        console.error(
          `${minute.toFixed(0)} min: RSS ${sizes.join(', ')} MiB; ${counts.failed} requests failed`,
        );
      }
    }
  });
  clearInterval(renewing);
  load.close();
  countFinishedRequests(load.requests, counts);

  const rows = members.flatMap((member, index) =>
    MEASURED.map(([what, metric, unit], column) => {
      const between = (begin, end) =>
        median(
          samples[index]
            .filter(({ minute }) => minute >= begin && minute <= end)
            .map(({ values }) => values[column]),
        );
      const early = between(WARM_UP, WARM_UP + WINDOW);
      const late = between(MINUTES - WINDOW, Infinity);
      // For memory, only the RSS is checked, because the heap in use goes up and down with garbage collection.
      const isFlat =
        unit === 'MiB'
          ? metric !== MEASURED[0][1] || late <= early * MAX_GROWTH
          : late <= early + MAX_EXTRA_HANDLES;
      if (!isFlat) process.exitCode = 1;
      const shown = (value) => (unit === 'MiB' ? `${(value / 2 ** 20).toFixed(1)} MiB` : String(value));
      const growth = `${((100 * late) / early - 100).toFixed(1)} %`;
      return [member.name, what, shown(early), shown(late), growth, isFlat ? '' : 'grows'];
    }),
  );
  if (counts.failed > 0) process.exitCode = 1;
  reportTable('soak', {
    keep: MINUTES >= 15,
    title:
      `Soak test of ${MINUTES} minutes at ${rate.toFixed(0)} requests/s, half the capacity of two API processes and two workers: ` +
      `${counts.requests} requests, ${counts.failed} failed; load average of the shared machine ${loadBefore.toFixed(1)} to ${loadavg()[0].toFixed(1)}`,
    goal: 'RSS at the end at most 10 % above RSS after the first three minutes; no more files and handles',
    columns: [
      'process',
      'measurement',
      `median of minutes ${WARM_UP.toFixed(0)} to ${(WARM_UP + WINDOW).toFixed(0)}`,
      `median of the last ${WINDOW.toFixed(0)} minutes`,
      'growth',
      'verdict',
    ],
    rows,
  });
} finally {
  await fleet.close();
  await webhooks.close();
  await redis?.stop();
  await bench.close();
}

/** Returns the requests per second when every connection sends its next request as soon as it has a response. */
async function fullLoad(load) {
  const kinds = Object.entries(SHARES).flatMap(([kind, share]) => Array.from({ length: share }, () => kind));
  const until = performance.now() + SECONDS_AT_FULL_LOAD * 1000;
  let responses = 0;
  const connection = async (first) => {
    // 37 has no common factor with the 100 kinds, so every connection sends all kinds in their shares.
    for (let turn = first; performance.now() < until; turn += 37) {
      await load.kinds[kinds[turn % kinds.length]]('full-load');
      responses += 1;
    }
  };
  await Promise.all(Array.from({ length: 2 * CONNECTIONS }, (_, index) => connection(index * 7)));
  return responses / SECONDS_AT_FULL_LOAD;
}

/** Counts finished requests and removes them, so that the memory of this process does not grow. */
function countFinishedRequests(requests, counts) {
  const over = requests.filter(({ milliseconds }) => milliseconds !== undefined);
  const left = requests.filter(({ milliseconds }) => milliseconds === undefined);
  counts.requests += over.length;
  const failed = over.filter(({ status }) => status !== 200);
  for (const { kind, status, problem } of failed.slice(0, 3)) console.error(kind, status, problem ?? '');
  counts.failed += failed.length;
  requests.splice(0, requests.length, ...left);
}

function median(values) {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)];
}
