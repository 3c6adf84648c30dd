import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataSource, type QueryRunner } from 'typeorm';

/** Derives the 64-bit key of a lock from its name, so that no two uses share a number by accident. */
export function advisoryLockKey(name: string): string {
  return createHash('sha256').update(`merchant-connectivity:${name}`).digest().readBigInt64BE().toString();
}

/** Runs the work while holding the lock. Processes that come later wait, and then run their own work. */
export async function withAdvisoryLock<T>(
  dataSource: DataSource,
  name: string,
  work: (connection: QueryRunner) => Promise<T>,
): Promise<T> {
  const connection = dataSource.createQueryRunner();
  const key = advisoryLockKey(name);
  try {
    await connection.query('SELECT pg_advisory_lock($1)', [key]);
    try {
      return await work(connection);
    } finally {
      await connection.query('SELECT pg_advisory_unlock($1)', [key]);
    }
  } finally {
    await connection.release();
  }
}

/** Keeps several processes from doing the same background work at once. */
@Injectable()
export class JobLock {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Runs the work unless another process is running it at this moment.
   *
   * @returns whether the work ran here
   */
  async runExclusively(job: string, work: () => Promise<void>): Promise<boolean> {
    const connection = this.dataSource.createQueryRunner();
    const key = advisoryLockKey(job);
    try {
      const [{ acquired }] = await connection.query('SELECT pg_try_advisory_lock($1) AS acquired', [key]);
      if (!acquired) return false;
      try {
        await work();
      } finally {
        await connection.query('SELECT pg_advisory_unlock($1)', [key]);
      }
      return true;
    } finally {
      await connection.release();
    }
  }
}
