import autocannon from 'autocannon';

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
