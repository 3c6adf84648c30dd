/**
 * Measures the memory that limits take while strangers with many addresses use them up: `BoundedMemory`, compared with the class of
 * rate-limiter-flexible that it extends. Run it with `--expose-gc`.
 */
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { BoundedMemory } from '../dist/src/infrastructure/rate-limiting/bounded-memory.js';
import { reportTable } from './support/report.mjs';

const ADDRESSES = [100_000, 1_000_000];
const OPTIONS = { points: 10, duration: 600, keyPrefix: 'bench' };
const MEGABYTE = 1e6;

function heap() {
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}

/** Returns the addresses of that many subscribers of one IPv6 network. */
function* addressesOf(count) {
  for (let index = 0; index < count; index += 1)
    yield `2001:db8:${(index >> 16).toString(16)}:${(index & 0xff_ff).toString(16)}::`;
}

async function fill(limiter, count) {
  for (const address of addressesOf(count)) await limiter.consume(address).catch(() => undefined);
}

const rows = [];
for (const count of ADDRESSES) {
  const cells = [count.toLocaleString('en')];
  for (const create of [() => new BoundedMemory(OPTIONS), () => new RateLimiterMemory(OPTIONS)]) {
    const before = heap();
    const limiter = create();
    const start = performance.now();
    await fill(limiter, count);
    const microseconds = ((performance.now() - start) * 1_000) / count;
    cells.push(`${((heap() - before) / MEGABYTE).toFixed(0)} MB`, `${microseconds.toFixed(1)} µs`);
    // Its timers keep what it counted.
    for (const address of addressesOf(count)) await limiter.delete(address);
  }
  rows.push(cells);
}
reportTable('rate-limit-memory', {
  title: 'Memory of one limit while an IPv6 network (/32) sends requests from ever new addresses',
  goal: 'as much for a million addresses as for 100,000',
  columns: ['addresses', 'product', 'per request', 'rate-limiter-flexible', 'per request'],
  rows,
});
