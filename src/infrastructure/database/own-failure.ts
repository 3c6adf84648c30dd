import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { ApiError } from '../errors/index.js';
import { MINUTE, SECOND } from '../time/index.js';
import { isTransientFailure } from './sql-state.js';

/** Milliseconds. A restart of the database, or a failover, takes less. */
const REPEATED_FOR = MINUTE;
/** Milliseconds that a response waits. A database that responds needs less. */
const AWAITED_FOR = SECOND;

const logger = new Logger('OwnFailure');

/** Returns whether the error is a failure of the service, as opposed to a problem of the request. */
export function isOwnFailure(error: unknown): boolean {
  return !(error instanceof ApiError && error.status < 500);
}

/**
 * Runs work that follows from an attempt. If the service fails, the attempt must not count, because the user did nothing wrong.
 *
 * @param takeBack takes back what was stored for the attempt
 */
export async function unlessOwnFailure<Result>(
  takeBack: () => Promise<unknown>,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (isOwnFailure(error)) await doneAfterwards(takeBack);
    throw error;
  }
}

/**
 * Does what remains to be done once the outcome of an attempt or a request is certain, such as taking the attempt back. While the
 * database is unavailable, repeats the work in the background. Never rejects.
 */
export async function doneAfterwards(work: () => Promise<unknown>): Promise<void> {
  const done = repeated(work).catch((error: unknown) =>
    logger.warn('The count or state after an attempt or a request could not be updated', error),
  );
  await Promise.race([done, pause(AWAITED_FOR, undefined, { ref: false })]);
}

async function repeated(work: () => Promise<unknown>): Promise<void> {
  const start = performance.now();
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if (!isTransientFailure(error) || performance.now() - start > REPEATED_FOR) throw error;
      await pause(SECOND, undefined, { ref: false });
    }
  }
}
