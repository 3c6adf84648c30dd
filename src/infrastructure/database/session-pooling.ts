import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { OperatorError } from '../errors/index.js';
import { SECOND } from '../time/index.js';
import type { DriverAddress } from './database-address.js';

/** Each session runs its statement so often. A pooler that is busy may give it the same server connection by chance. */
const ROUNDS = 5;
/** SQLSTATE codes for a prepared statement that exists already, or no longer. */
const PREPARED_STATEMENT_STATES = new Set(['42P05', '26000']);
/**
 * Checks that a connection is a session of its own. Behind a pooler that gives a session to several clients in turn, prepared
 * statements, session locks and notifications get lost, and most requests fail.
 *
 * Opens two connections, which prepare the same statement in turn and ask for the process that serves them.
 *
 * The connections keep the settings of their sessions, which other clients of such a pooler would get, too.
 *
 * @throws OperatorError that names the setting of the pooler
 */
export async function requireSessions(address: DriverAddress): Promise<void> {
  const clients = [1, 2].map(
    () =>
      new pg.Client({
        ...address,
        application_name: 'merchant-connectivity-service check',
        connectionTimeoutMillis: 5 * SECOND,
        query_timeout: 10 * SECOND,
      }),
  );
  // Without a listener, a lost connection would end the process.
  for (const client of clients) client.on('error', () => undefined);
  const statement = {
    name: `check_${randomUUID()}`,
    text: 'SELECT pg_backend_pid() AS process',
  };
  try {
    for (const client of clients) await client.connect();
    const processes = clients.map(() => new Set<number>());
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [index, client] of clients.entries()) {
        const { rows } = await client.query(statement);
        processes[index]?.add(rows[0].process);
      }
    }
    const isOwn = processes.every(({ size }) => size === 1);
    if (!isOwn || new Set(processes.flatMap((each) => [...each])).size < clients.length)
      throw sharedSessions();
  } catch (error) {
    const { code = '', message = '' } = error as { code?: string; message?: string };
    if (PREPARED_STATEMENT_STATES.has(code) || /statement pooling/.test(message)) throw sharedSessions();
    throw error;
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  }
}

function sharedSessions(): OperatorError {
  return new OperatorError(
    'The database is behind a connection pooler that does not keep sessions: prepared statements, session locks and notifications get lost. Use session pooling (pool_mode = session in pgbouncer.ini), or connect to PostgreSQL directly: docs/scaling.md, "PgBouncer".',
  );
}
