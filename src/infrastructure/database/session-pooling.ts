import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { OperatorError } from '../errors/index.js';
import { SECOND } from '../time/index.js';
import type { DriverAddress } from './database-address.js';

/** Each session runs its statement so often. A pooler that is busy may give it the same server connection by chance. */
const ROUNDS = 5;
/** SQLSTATE codes for a prepared statement that exists already, or no longer. */
const PREPARED_STATEMENT_STATES = new Set(['42P05', '26000']);
/** The message of PgBouncer, followed by the name of the parameter. */
const REFUSED_PARAMETER = /unsupported startup parameter(?: in options)?: (\w+)/;

/** Returns what to do if a connection pooler refused a startup parameter, otherwise undefined. */
export function refusedParameter(error: unknown): string | undefined {
  const [, parameter] = REFUSED_PARAMETER.exec((error as Error | undefined)?.message ?? '') ?? [];
  return parameter === undefined
    ? undefined
    : `The connection pooler of the database refuses the startup parameter ${parameter}. Set ignore_startup_parameters = statement_timeout, options in pgbouncer.ini: docs/scaling.md, "PgBouncer".`;
}

/**
 * Checks that a connection is a session of its own. Behind a pooler that gives a session to several clients in turn, prepared
 * statements, session locks and notifications get lost, and most requests fail.
 *
 * Opens two connections, which prepare the same statement in turn and ask for the process that serves them.
 *
 * @returns whether the database applies the startup parameters; a pooler may ignore them
 * @throws OperatorError that names the setting of the pooler
 */
export async function requireSessions(address: DriverAddress): Promise<{ appliesParameters: boolean }> {
  const clients = [1, 2].map(
    () =>
      new pg.Client({
        ...address,
        application_name: 'merchant-connectivity-service check',
        connectionTimeoutMillis: 5 * SECOND,
        query_timeout: 10 * SECOND,
        // The same parameters as those of the pools.
        statement_timeout: 10 * SECOND,
        options: '-c jit=off',
      }),
  );
  // Without a listener, a lost connection would end the process.
  for (const client of clients) client.on('error', () => undefined);
  const statement = {
    name: `check_${randomUUID()}`,
    text: `SELECT pg_backend_pid() AS process, current_setting('statement_timeout') <> '0' AS "appliesParameters"`,
  };
  try {
    for (const client of clients) await client.connect();
    const processes = clients.map(() => new Set<number>());
    let appliesParameters = true;
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [index, client] of clients.entries()) {
        const { rows } = await client.query(statement);
        processes[index]?.add(rows[0].process);
        appliesParameters &&= rows[0].appliesParameters;
      }
    }
    const isOwn = processes.every(({ size }) => size === 1);
    if (!isOwn || new Set(processes.flatMap((each) => [...each])).size < clients.length)
      throw sharedSessions();
    return { appliesParameters };
  } catch (error) {
    const { code = '', message = '' } = error as { code?: string; message?: string };
    if (PREPARED_STATEMENT_STATES.has(code) || /statement pooling/.test(message)) throw sharedSessions();
    const refused = refusedParameter(error);
    throw refused === undefined ? error : new OperatorError(refused);
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  }
}

function sharedSessions(): OperatorError {
  return new OperatorError(
    'The database is behind a connection pooler that does not keep sessions: prepared statements, session locks and notifications get lost. Use session pooling (pool_mode = session in pgbouncer.ini), or connect to PostgreSQL directly: docs/scaling.md, "PgBouncer".',
  );
}
