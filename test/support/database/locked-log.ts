import pg from 'pg';
import type { TestDatabase } from './database.js';

/** Locks the request log while the work runs. */
export async function whileLogIsLocked(
  database: TestDatabase,
  work: () => Promise<void>,
  lock = 'request_log IN ACCESS EXCLUSIVE MODE',
): Promise<void> {
  const connection = new pg.Client({ connectionString: database.url });
  await connection.connect();
  try {
    await connection.query(`BEGIN; LOCK TABLE ${lock}`);
    await work();
    await connection.query('COMMIT');
  } finally {
    await connection.end();
  }
}
