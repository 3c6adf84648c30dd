import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Client, IDLE_SESSION } from './client.js';
import type { DriverAddress } from './database-address.js';
import { DatabaseConfiguration } from './database.configuration.js';

/** Derives the 64-bit key of a lock from its name, so that no two uses share a number by accident. */
export function advisoryLockKey(name: string): string {
  return createHash('sha256').update(`merchant-connectivity:${name}`).digest().readBigInt64BE().toString();
}

/** Milliseconds between two attempts to get a lock. */
const RETRY_DELAY = 200;
const ATTEMPTS_BEFORE_REPORT = 15;
/** Milliseconds until connecting fails. A scheduled job then runs again at its next time. */
const CONNECT_TIMEOUT = 5_000;
const STATEMENT_TIMEOUT = '5s';

/** Polls for a lock, and logs once that another process holds it for long. */
export async function pollForLock(work: string, isAcquired: () => Promise<boolean>): Promise<void> {
  for (let attempt = 1; !(await isAcquired()); attempt += 1) {
    if (attempt === ATTEMPTS_BEFORE_REPORT)
      new Logger('Database').warn('This process waits until another process ends its work', { work });
    await pause(RETRY_DELAY);
  }
}

/**
 * Runs the work while a separate connection holds the lock. If connections of the pool held the locks, jobs that start
 * together could occupy all of them and then wait forever for connections to work with.
 *
 * Polls for the lock: a statement that waits for it would hold a snapshot, and CREATE INDEX CONCURRENTLY waits until
 * older snapshots are released.
 *
 * @param waits whether to wait while another session holds the lock; if false, returns undefined instead
 */
async function withLock<T>(
  address: DriverAddress,
  name: string,
  waits: boolean,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const connection = new Client({
    ...address,
    application_name: 'merchant-connectivity-service lock',
    connectionTimeoutMillis: CONNECT_TIMEOUT,
    keepAlive: true,
    // A migration must not lose its lock because the process that runs it was paused.
    session: { statement_timeout: STATEMENT_TIMEOUT, ...(!waits && IDLE_SESSION) },
  });
  try {
    await connection.connect();
    const isAcquired = async (): Promise<boolean> => {
      const { rows } = await connection.query('SELECT pg_try_advisory_lock($1) AS acquired', [
        advisoryLockKey(name),
      ]);
      return rows[0].acquired;
    };
    if (waits) await pollForLock(name, isAcquired);
    else if (!(await isAcquired())) return undefined;
    return await work();
  } finally {
    // The end of the session releases the lock.
    await connection.end().catch(() => undefined);
  }
}

/** Runs the work while holding the lock. Waits while another process holds it. */
export async function withAdvisoryLock<T>(
  address: DriverAddress,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  return (await withLock(address, name, true, work)) as T;
}

/** Keeps several processes from doing the same background work at once. */
@Injectable()
export class JobLock {
  constructor(private readonly configuration: DatabaseConfiguration) {}

  /** Runs the work unless another process is running it at this moment. */
  runExclusively(job: string, work: () => Promise<void>): Promise<void> {
    return withLock(this.configuration.driverAddress, job, false, work);
  }
}
