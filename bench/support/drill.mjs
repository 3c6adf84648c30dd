import { setTimeout as pause } from 'node:timers/promises';
import { reportTable } from './report.mjs';
import { tracesOf } from './traces.mjs';

/** Milliseconds: two leases of interrupted attempts, and the deliveries that wait after them. */
const SETTLE_TIMEOUT = 90_000;
const COLUMNS = [
  'requests',
  'failed',
  'retried by the load balancer',
  'slowest',
  'events',
  'lost',
  'delivered twice',
  'details',
];

/** Runs work under load, phase by phase, and checks that every request with a 200 response left its traces. */
export function openDrill({ balancer, webhooks, only }) {
  const began = performance.now();
  const elapsed = () => `${((performance.now() - began) / 1000).toFixed(1)} s`;
  const failures = [];
  const rows = [];
  const open = [];

  function expect(what, isSo) {
    if (!isSo) failures.push(what);
  }

  return {
    expect,

    /** Runs the work under load and records the result. */
    async phase(load, rates, { name, title, mayFail = false, mayRepeat = false, mayRetry = true }, work) {
      if (only && !only.includes(name)) return;
      const before = { ...balancer.counts };
      let result = '';
      try {
        result = await load.during(name, rates, work);
      } catch (error) {
        result = error.message;
        expect(`${title}: ${error.message}`, false);
      }
      const requests = load.requests.filter((request) => request.phase === name);
      const failed = requests.filter(({ status }) => status !== 200);
      for (const { kind, status, retryAfter, problem } of failed) {
        const isExpected = mayFail && status === 503 && retryAfter >= 1;
        expect(`${title}: a request (${kind}) got status ${status} ${problem ?? ''}`, isExpected);
      }
      const retried = balancer.counts.retried - before.retried;
      const reasons = balancer.retries.splice(0).slice(0, 5).join('; ');
      expect(
        `${title}: the load balancer had to retry ${retried} requests: ${reasons}`,
        mayRetry || retried === 0,
      );
      const slowest = Math.max(...requests.map(({ milliseconds }) => milliseconds));
      console.error(
        `${elapsed()}: ${title}: ${requests.length} requests, ${failed.length} failed, ${retried} retried. ${result}`,
      );
      open.push({ title, mayRepeat, requests, failed: failed.length, retried, result, slowest });
    },

    /** Waits until everything is delivered, and completes the rows of the phases so far. */
    async settle() {
      // Wait first: until the lanes are empty, an event may arrive a second time.
      await eventually('all lanes are empty', () => areLanesEmpty(webhooks), SETTLE_TIMEOUT);
      for (const { title, mayRepeat, requests, failed, retried, result, slowest } of open.splice(0)) {
        const succeeded = requests.filter(({ status }) => status === 200);
        const { events, lost, twice } = await tracesOf(succeeded, webhooks);
        for (const problem of lost.slice(0, 5)) expect(`${title}: ${problem}`, false);
        expect(`${title}: ${twice} deliveries arrived twice`, mayRepeat || twice === 0);
        console.error(`${elapsed()}: ${title}: ${events} events, ${lost.length} lost, ${twice} twice`);
        rows.push([
          title,
          requests.length,
          failed,
          retried,
          `${slowest} ms`,
          events,
          lost.length,
          twice,
          result,
        ]);
      }
    },

    report: (name, { columns, ...options }) =>
      reportTable(name, { ...options, columns: [...columns, ...COLUMNS], rows }),

    /** Prints what the processes logged, and all failures. */
    conclude(...fleets) {
      for (const fleet of fleets) {
        for (const [message, count] of fleet.messages()) console.error(`${count} × ${message}`);
        for (const line of fleet.lines().filter(({ message }) => message === 'Unexpected error'))
          console.error(JSON.stringify(line));
        failures.unshift(...fleet.crashes);
      }
      for (const failure of failures.slice(0, 20)) console.error(`✗ ${failure}`);
      console.error(`${elapsed()}, ${failures.length} failures`);
      if (failures.length > 0) process.exitCode = 1;
    },
  };
}

/** Waits until the condition holds. @param timeout milliseconds */
export async function eventually(what, isSo, timeout = 20_000) {
  const until = Date.now() + timeout;
  while (!(await isSo())) {
    if (Date.now() > until) throw new Error(`${what}: not within ${timeout} ms`);
    await pause(100);
  }
}

async function areLanesEmpty(webhooks) {
  const { rows } = await webhooks.query(
    `SELECT (SELECT coalesce(sum(in_flight), 0) FROM webhook_lane)::integer AS flying,
            (SELECT count(*) FROM webhook_delivery)::integer AS waiting`,
  );
  return rows[0].flying === 0 && rows[0].waiting === 0;
}
