import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds; well above a password's hash (40) and an entry of the audit log (10). */
const MOMENT = 400;

/**
 * Lets a failure (`undefined` or an error) be known only at fixed times after the beginning, so that how
 * long it took does not tell how far it came. Counted from here, not from the arrival of the request: whoever
 * sends their body slowly would have used the time up before.
 */
export async function maskFailureTiming<T>(work: () => Promise<T | undefined>): Promise<T | undefined> {
  const begun = performance.now();
  let found: T | undefined;
  try {
    found = await work();
    return found;
  } finally {
    if (found === undefined) await pause(MOMENT - ((performance.now() - begun) % MOMENT));
  }
}
