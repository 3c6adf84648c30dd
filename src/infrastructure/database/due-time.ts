import { CLOCK_TOLERANCE, SECOND } from '../time/index.js';

/**
 * Returns SQL for whether a stored time has come. A time that is further away than any pause was stored while a clock was ahead, and
 * counts as come: otherwise, what waits for it would wait for as long as the clock was ahead.
 *
 * @param now SQL for the present time
 * @param since SQL for the time that must have come, if it is an earlier one
 * @param longestPause milliseconds for which anything is postponed or leased, at most
 */
export function hasCome(column: string, longestPause: number, now = 'now()', since = now): string {
  const latest = `${now}::timestamptz + interval '${Math.ceil((longestPause + CLOCK_TOLERANCE) / SECOND)} seconds'`;
  return `(${column} <= ${since} OR ${column} > ${latest})`;
}
