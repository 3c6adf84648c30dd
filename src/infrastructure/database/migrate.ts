import { DataSource } from 'typeorm';
import { OperatorError } from '../errors/index.js';
import { withAdvisoryLock } from './advisory-lock.js';
import { isCertificateRefused, TLS_NOT_SUPPORTED, type DatabaseAddress } from './database-address.js';
import { dataSourceOptions } from './data-source-options.js';
import { isDatabaseUnavailable } from './sql-state.js';

const MIN_SERVER_VERSION = 150_000;

/** The database cannot be used. */
class DatabaseStartError extends OperatorError {}

/**
 * Runs the pending migrations on a connection of its own.
 * Any number of processes may call this at once: one runs the migrations while the others wait.
 *
 * @returns the names of the migrations that ran
 * @throws DatabaseStartError when the database is unreachable or too old
 */
export async function migrate(url: string, authority?: string): Promise<string[]> {
  return withDatabase({ url, authority }, (dataSource) =>
    withAdvisoryLock(dataSource, 'migrate', async () => {
      const done = await dataSource.runMigrations();
      return done.map((migration) => migration.name);
    }),
  );
}

/** @throws DatabaseStartError when the database is unreachable or too old */
export async function checkDatabase(url: string, authority?: string): Promise<void> {
  await withDatabase({ url, authority }, async () => undefined);
}

async function withDatabase<T>(
  address: DatabaseAddress,
  work: (dataSource: DataSource) => Promise<T>,
): Promise<T> {
  const dataSource = new DataSource(dataSourceOptions(address));
  try {
    await dataSource.initialize().catch((error: unknown) => {
      throw (
        explain(error, address.url) ??
        new DatabaseStartError(`The database cannot be used: ${messageOf(error)}`)
      );
    });
    await refuseOldServer(dataSource);
    return await work(dataSource);
  } catch (error) {
    throw explain(error, address.url) ?? error;
  } finally {
    if (dataSource.isInitialized) await dataSource.destroy();
  }
}

async function refuseOldServer(dataSource: DataSource): Promise<void> {
  const [row] = await dataSource.query(`SELECT current_setting('server_version_num')::int AS version`);
  if (row.version < MIN_SERVER_VERSION) {
    throw new DatabaseStartError(
      'The version of the database is too old: this service requires PostgreSQL 15 or later.',
    );
  }
}

/** @returns undefined for errors that have nothing to do with connecting */
function explain(error: unknown, url: string): DatabaseStartError | undefined {
  const { code, message } = (error ?? {}) as { code?: string; message?: string };
  const { host, pathname } = new URL(url);
  const database = decodeURIComponent(pathname.slice(1));
  if (isCertificateRefused(code)) {
    return new DatabaseStartError(
      `The certificate of the database at ${host} is not trusted (${code}). Check that DATABASE_CA is the certificate of its authority, and that it is issued for the host in DATABASE_URL.`,
    );
  }
  if (message === TLS_NOT_SUPPORTED) {
    return new DatabaseStartError(
      `The database at ${host} does not support TLS, which DATABASE_URL or DATABASE_CA requires.`,
    );
  }
  if (code === '28000' && message?.includes('no encryption')) {
    return new DatabaseStartError(
      `The database at ${host} requires TLS: add ?sslmode=verify-full to DATABASE_URL, or set DATABASE_CA.`,
    );
  }
  if (isDatabaseUnavailable(error)) {
    return new DatabaseStartError(
      `The database at ${host} is unreachable (${code ?? message}). Is it running, and is DATABASE_URL right?`,
    );
  }
  if (code === '28P01' || code === '28000') {
    return new DatabaseStartError(`The database at ${host} refused the user or password of DATABASE_URL.`);
  }
  if (code === '3D000') {
    return new DatabaseStartError(
      `The database server at ${host} has no database "${database}". Create it first.`,
    );
  }
  return undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
