import { DataSource } from 'typeorm';
import { OperatorError } from '../errors/index.js';
import { withAdvisoryLock } from './advisory-lock.js';
import { isCertificateRefused, NO_TLS_THERE, type DatabaseAddress } from './database-address.js';
import { dataSourceOptions } from './data-source-options.js';
import { isDatabaseUnavailable } from './sql-state.js';

const OLDEST_SERVER = 150_000;

/** The database cannot be used. */
class DatabaseStartError extends OperatorError {}

/**
 * Opens a connection of its own, brings the schema up to date and closes it.
 * Any number of processes may do so at once: one migrates, the others wait for it.
 *
 * @returns the names of the migrations that were run
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
  if (row.version < OLDEST_SERVER) {
    throw new DatabaseStartError('The database is older than PostgreSQL 15, which this service needs.');
  }
}

/** @returns undefined for what is no matter of reaching the database */
function explain(error: unknown, url: string): DatabaseStartError | undefined {
  const { code, message } = (error ?? {}) as { code?: string; message?: string };
  const { host, pathname } = new URL(url);
  const database = decodeURIComponent(pathname.slice(1));
  if (isCertificateRefused(code)) {
    return new DatabaseStartError(
      `The database at ${host} shows a certificate that is not trusted (${code}). Is DATABASE_CA the certificate of its authority, and is it issued for the host in DATABASE_URL?`,
    );
  }
  if (message === NO_TLS_THERE) {
    return new DatabaseStartError(
      `The database at ${host} has no TLS, which DATABASE_URL or DATABASE_CA asks for.`,
    );
  }
  if (code === '28000' && message?.includes('no encryption')) {
    return new DatabaseStartError(
      `The database at ${host} wants TLS: add ?sslmode=verify-full to DATABASE_URL, or set DATABASE_CA.`,
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
