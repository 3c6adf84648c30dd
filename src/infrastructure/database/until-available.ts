import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { SECOND } from '../time/index.js';
import { isTemporarilyUnavailable } from './sql-state.js';

const FIRST_DELAY = 100;
const MAX_DELAY = 5 * SECOND;

/**
 * Runs work on the database, and retries it with growing delays while the database is unavailable, for example because
 * both start at the same time.
 *
 * @throws the last error once the timeout has passed, and any other error at once
 */
export async function untilAvailable<Result>(
  work: () => Promise<Result>,
  timeoutMilliseconds: number,
): Promise<Result> {
  const deadline = performance.now() + timeoutMilliseconds;
  for (let delay = FIRST_DELAY; ; delay = Math.min(2 * delay, MAX_DELAY)) {
    try {
      return await work();
    } catch (error) {
      const left = deadline - performance.now();
      if (left <= 0 || !isTemporarilyUnavailable(error)) throw error;
      if (delay === FIRST_DELAY) {
        new Logger('Database').warn(
          `The database is unavailable (${(error as Error).message}). Retrying for ${Math.ceil(left / SECOND)} s`,
        );
      }
      // The jitter keeps processes that start together from connecting together.
      await pause(Math.min(delay * (0.5 + Math.random()), left));
    }
  }
}
