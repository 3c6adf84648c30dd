import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

const TIMEOUT_MS = 10_000;
const INTERVAL_MS = 25;

/**
 * Calls `look` until it returns something other than undefined or false.
 *
 * @param what the awaited state, for the error message
 * @param timeout in milliseconds on an idle machine; grows with the load, as the timeouts of tests do
 */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  timeout = TIMEOUT_MS,
): Promise<T> {
  const start = performance.now();
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    const waited = performance.now() - start;
    if (waited > timeout * loadFactor())
      throw new Error(`Gave up after ${Math.round(waited)} ms of waiting for: ${what}`);
    await pause(INTERVAL_MS);
  }
}

/** Returns 1 on an idle machine, and more when processes wait for its processors. */
export function loadFactor(): number {
  return 1 + (loadavg()[0] ?? 0) / availableParallelism();
}
