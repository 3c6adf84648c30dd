import { MINUTE } from '../../../infrastructure/time/index.js';

/** So that what failed together does not come back together. */
const JITTER = 0.2;
/** What a receiver may ask for: `Retry-After` only ever pushes an attempt later, and not beyond this. */
const MAX_RETRY_AFTER = 15 * MINUTE;

/**
 * Milliseconds until the next attempt, or undefined when the one that failed was the last.
 *
 * @param attempts made so far
 * @param delays milliseconds, one for each retry
 * @param retryAfter milliseconds that the receiver asked for
 * @param random from 0 to 1
 */
export function delayUntilRetry(
  { attempts, allowed }: { readonly attempts: number; readonly allowed: number },
  delays: readonly number[],
  retryAfter: number | undefined,
  random: number = Math.random(),
): number | undefined {
  if (attempts >= allowed) return undefined;
  const delay = delays[Math.min(attempts, delays.length) - 1] ?? 0;
  return Math.max(delay * (1 + JITTER * random), Math.min(retryAfter ?? 0, MAX_RETRY_AFTER));
}
