import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { requireTool } from '../../scripts/ensure-tools.mjs';

export const autocannon = requireTool('autocannon');

/** Sends the same request repeatedly and returns requests per second and latencies in milliseconds. */
export async function load({ url, method = 'POST', headers, body, connections = 32, seconds = 5 }) {
  const result = await autocannon({ url, method, headers, body, connections, duration: seconds });
  const failures = result.non2xx + result.errors + result.timeouts;
  if (failures > 0) throw new Error(`${failures} of ${result.requests.total} requests to ${url} failed`);
  return { rate: result.requests.total / result.duration, p50: result.latency.p50, p99: result.latency.p99 };
}

function median(values) {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)];
}

/** Warms up both sides, then alternates them, so that a slower machine affects both equally. */
export async function alternate({ rounds, seconds, product, comparison }) {
  await load({ ...product, seconds: 3 });
  await load({ ...comparison, seconds: 3 });
  const runs = { product: [], comparison: [] };
  for (let round = 1; round <= rounds; round += 1) {
    runs.comparison.push(await load({ ...comparison, seconds }));
    runs.product.push(await load({ ...product, seconds }));
    const [theirs, ours] = [runs.comparison.at(-1), runs.product.at(-1)];
    console.error(`round ${round}: ${ours.rate.toFixed(0)}/s, comparison ${theirs.rate.toFixed(0)}/s`);
  }
  return { product: summary(runs.product), comparison: summary(runs.comparison), runs };
}

function summary(runs) {
  return {
    rate: median(runs.map((run) => run.rate)),
    p50: median(runs.map((run) => run.p50)),
    p99: median(runs.map((run) => run.p99)),
  };
}

/**
 * Sends requests at a steady rate, without waiting for earlier ones, and returns the time that each one took from when it was due,
 * in milliseconds.
 */
export async function latenciesOf(
  { url, method = 'POST', headers, body },
  { rate, seconds, connections = 32 },
) {
  const { origin, pathname, search } = new URL(url);
  const pool = new Pool(origin, { connections });
  const send = async (due) => {
    const response = await pool.request({ path: pathname + search, method, headers, body });
    await response.body.dump();
    if (response.statusCode !== 200) throw new Error(`${url} responded ${response.statusCode}`);
    return performance.now() - due;
  };
  const work = [];
  const began = performance.now();
  for (let index = 0; index < rate * seconds; index += 1) {
    const due = began + (index * 1_000) / rate;
    if (due > performance.now()) await pause(due - performance.now());
    work.push(send(due));
  }
  const latencies = await Promise.all(work);
  await pool.close();
  return latencies;
}

export function percentile(values, share) {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** Processes the items with one worker for each connection. @returns the results, in the order of the items */
export async function inParallel(items, connections, work) {
  const results = Array.from({ length: items.length });
  let next = 0;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (next < items.length) {
        const index = next;
        next += 1;
        results[index] = await work(items[index]);
      }
    }),
  );
  return results;
}

/** Sends a form. @returns the parsed response, which must contain the text, if one is expected */
export async function postForm(pool, path, fields, expected) {
  const { body } = await pool.request({
    path,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  });
  const text = await body.text();
  if (expected !== undefined && !text.includes(expected)) throw new Error(`${path} responded ${text}`);
  return JSON.parse(text);
}
