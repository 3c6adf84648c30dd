import { SECOND } from '../time/index.js';
import { mayRepeat } from './sql-state.js';

/** Milliseconds after which work whose connection was lost is not repeated: the client of the request does not wait forever. */
const REPEATED_WITHIN = 4 * SECOND;

/**
 * Returns whether to repeat work on a new connection.
 *
 * @param start when the work began, on the clock of `performance.now()`
 */
export function isRepeatedAfter(error: unknown, start: number): boolean {
  return mayRepeat(error) && performance.now() - start < REPEATED_WITHIN;
}

/**
 * Runs work, and runs it again if its connection was lost.
 *
 * @param again takes into account that the database may have done the work
 */
export async function repeatedOnce<Result>(
  work: () => Promise<Result>,
  again: () => Promise<Result> = work,
): Promise<Result> {
  const start = performance.now();
  try {
    return await work();
  } catch (error) {
    if (!isRepeatedAfter(error, start)) throw error;
    return again();
  }
}
