import { MINUTE } from '../../../infrastructure/time/index.js';

/** Seconds before the second and the third attempt, unless `WEBHOOK_RETRY_SECONDS` is set. */
export const DEFAULT_RETRY_SECONDS = '180,300';
/** Spreads out the retries of deliveries that failed at the same time. */
const JITTER = 0.2;
/** Limit for `Retry-After`, which can only postpone an attempt. */
const MAX_RETRY_AFTER = 15 * MINUTE;

/** Returns the milliseconds until a first retry at the latest, without `Retry-After`. */
export function longestDelayOfFirstRetry(delays: readonly number[]): number {
  return (delays[0] ?? 0) * (1 + JITTER);
}

/**
 * Returns the milliseconds until the next attempt, or undefined if the failed attempt was the last one.
 *
 * @param attempts number of attempts made so far
 * @param delays milliseconds before each retry (`WEBHOOK_RETRY_SECONDS`)
 * @param retryAfter milliseconds that the receiver asked for
 * @param random a number from 0 to 1 that chooses the jitter
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
