import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** Derives the 64-bit key of a lock from its name, so that no two uses share a number by accident. */
export function advisoryLockKey(name: string): string {
  return createHash('sha256').update(`merchant-connectivity:${name}`).digest().readBigInt64BE().toString();
}

const WAIT_FOR_LOCK = 'SELECT true AS acquired FROM pg_advisory_lock($1)';
const TRY_LOCK = 'SELECT pg_try_advisory_lock($1) AS acquired';

/** Runs the work while holding the lock. @returns undefined if the statement did not get the lock */
async function withLock<T>(
  dataSource: DataSource,
  name: string,
  statement: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const connection = dataSource.createQueryRunner();
  const key = advisoryLockKey(name);
  try {
    const [{ acquired }] = await connection.query(statement, [key]);
    if (!acquired) return undefined;
    try {
      return await work();
    } finally {
      await connection.query('SELECT pg_advisory_unlock($1)', [key]);
    }
  } finally {
    await connection.release();
  }
}

/** Runs the work while holding the lock. Processes that come later wait, and then run their own work. */
export async function withAdvisoryLock<T>(
  dataSource: DataSource,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  return (await withLock(dataSource, name, WAIT_FOR_LOCK, work)) as T;
}

/** Keeps several processes from doing the same background work at once. */
@Injectable()
export class JobLock {
  constructor(private readonly dataSource: DataSource) {}

  /** Runs the work unless another process is running it at this moment. */
  runExclusively(job: string, work: () => Promise<void>): Promise<void> {
    return withLock(this.dataSource, job, TRY_LOCK, work);
  }
}
