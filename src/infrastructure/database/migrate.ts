import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { OperatorError } from '../errors/index.js';
import { readProjectFile } from '../project-files/index.js';
import { SECOND } from '../time/index.js';
import { withAdvisoryLock } from './advisory-lock.js';
import { dataSourceOptions, type ConnectionOptions } from './data-source-options.js';
import {
  databaseUrl,
  driverAddress,
  isCertificateRefused,
  TLS_NOT_SUPPORTED,
  type DatabaseAddress,
} from './database-address.js';
import type { DatabaseConfiguration } from './database.configuration.js';
import {
  inspectMigrations,
  LAST_RELEASE,
  storeChecksums,
  type MigrationsState,
} from './migration-checksums.js';
import { requireSessions } from './session-pooling.js';
import { isDatabaseUnavailable, isTemporarilyUnavailable } from './sql-state.js';

const INSUFFICIENT_PRIVILEGE = '42501';
const MIN_SERVER_VERSION = 150_000;

class DatabaseStartError extends OperatorError {}

interface MigrationOptions {
  readonly startTimeoutMilliseconds?: number | undefined;
  readonly serviceRole?: string | undefined;
  readonly variable?: string;
}

/** Runs the pending migrations as configured: with the role that owns the tables, if there is one. */
export function migrateConfigured(configuration: DatabaseConfiguration): Promise<string[]> {
  const { url = '', ownerUrl, authority, startTimeoutMilliseconds, serviceRole } = configuration;
  const variable = ownerUrl === undefined ? 'DATABASE_URL' : 'DATABASE_OWNER_URL';
  return migrate(ownerUrl ?? url, authority, { startTimeoutMilliseconds, serviceRole, variable });
}

/**
 * Runs the pending migrations on a connection of its own. Any number of processes may call this at once: one runs the
 * migrations while the others wait.
 *
 * @param options.startTimeoutMilliseconds how long connecting is retried while the database is unavailable
 * @param options.serviceRole a role that gets the privileges that the running service needs
 * @returns the names of the migrations that ran
 * @throws DatabaseStartError when the database is unreachable or too old, or has migrations that this release does not
 * know
 */
export async function migrate(
  url: string,
  authority?: string,
  { startTimeoutMilliseconds = 0, serviceRole, variable = 'DATABASE_URL' }: MigrationOptions = {},
): Promise<string[]> {
  const address = { url, authority, variable };
  return withDatabase(address, startTimeoutMilliseconds, (dataSource) =>
    withAdvisoryLock(driverAddress(address), 'migrate', async () => {
      const { isNew, pending } = await refuseForeignSchema(dataSource);
      if (isNew)
        await dataSource.transaction((transaction) => transaction.query(readProjectFile('docs/schema.sql')));
      await dataSource.runMigrations();
      await storeChecksums(dataSource);
      if (serviceRole !== undefined) await grantToServiceRole(dataSource, serviceRole);
      return [...pending];
    }),
  );
}

/**
 * Checks that the database is usable and that all migrations of this release ran.
 *
 * @param startTimeoutMilliseconds how long connecting is retried while the database is unavailable
 * @throws DatabaseStartError when the database is unreachable or too old, or its schema is not that of this release
 */
export async function checkDatabase(
  url: string,
  authority?: string,
  startTimeoutMilliseconds = 0,
): Promise<void> {
  await withDatabase({ url, authority }, startTimeoutMilliseconds, async (dataSource) => {
    const { isNew, pending } = await refuseForeignSchema(dataSource);
    if (pending.length > 0) {
      const state = isNew
        ? 'has no tables of this service: DATABASE_URL leads to another database, or the migration has yet to run'
        : `is older than this release: ${listed(pending)} did not run`;
      throw new DatabaseStartError(
        `The schema of the database ${state}. Run "mcs-admin migrate" first, or set MIGRATE_ON_START=on.`,
      );
    }
  });
}

async function refuseForeignSchema(dataSource: DataSource): Promise<MigrationsState> {
  const state = await inspectMigrations(dataSource);
  const { changed, unknown, newer } = state;
  await checkEncoding(dataSource, state);
  if (unknown.length > 0) {
    const names = unknown.length > 3 ? `${unknown[0]} to ${unknown.at(-1)}` : listed(unknown);
    throw new DatabaseStartError(
      `The schema of the database is neither that of this release nor that of version ${LAST_RELEASE.version}, but has other migrations (${names}): migrate it with version ${LAST_RELEASE.version} first if the database is older or its migration was interrupted, otherwise restore a backup or use an empty database.`,
    );
  }
  if (changed.length > 0) {
    throw new DatabaseStartError(
      `The schema of the database differs from this release: ${listed(changed)} changed after it ran on this database. Start the release that ran it, or use another database: restore a backup that this release can migrate, or create an empty one.`,
    );
  }
  if (newer.length > 0) {
    new Logger('Database').warn(
      `A newer release has migrated the database (${listed(newer)}). This release works with the schema of the next release, but not with those after it.`,
    );
  }
  return state;
}

const listed = (names: readonly string[]): string => names.join(', ');

/**
 * Connects to the database, runs the work and disconnects. @throws DatabaseStartError when the database is unreachable
 * or too old
 */
export async function withDatabase<T>(
  address: ConnectionOptions,
  startTimeoutMilliseconds: number,
  work: (dataSource: DataSource) => Promise<T>,
): Promise<T> {
  const dataSource = new DataSource(dataSourceOptions(address));
  try {
    await untilAvailable(async () => {
      // First, because other clients of a pooler that does not keep sessions would get the settings of the pool.
      await requireSessions(driverAddress(address));
      await dataSource.initialize();
    }, startTimeoutMilliseconds).catch((error: unknown) => {
      if (error instanceof OperatorError) throw error;
      throw (
        explain(error, address) ?? new DatabaseStartError(`The database cannot be used: ${messageOf(error)}`)
      );
    });
    await refuseUnsuitable(dataSource);
    return await work(dataSource);
  } catch (error) {
    throw explain(error, address) ?? error;
  } finally {
    if (dataSource.isInitialized) await dataSource.destroy();
  }
}

async function refuseUnsuitable(dataSource: DataSource): Promise<void> {
  const [row] = await dataSource.query(`SELECT current_setting('server_version_num')::int AS version`);
  if (row.version < MIN_SERVER_VERSION) {
    throw new DatabaseStartError(
      'The version of the database is too old: this service requires PostgreSQL 15 or later.',
    );
  }
}

/**
 * Systems without a locale of UTF-8 create databases with other encodings by default. Some texts fail there, or are measured in bytes.
 * A database that earlier releases have filled keeps its encoding.
 */
async function checkEncoding(dataSource: DataSource, { isNew }: MigrationsState): Promise<void> {
  const [{ encoding }] = await dataSource.query(`SELECT current_setting('server_encoding') AS encoding`);
  if (encoding === 'UTF8') return;
  const problem = `The encoding of the database is ${encoding}: this service requires UTF8, which every text can be stored in.`;
  if (isNew) throw new DatabaseStartError(`${problem} Create the database with ENCODING 'UTF8'.`);
  new Logger('Database').warn(`${problem} Move its contents into a database with ENCODING 'UTF8'.`);
}

/** Returns an error that says what the operator must do, or undefined if the cause is not known here. */
function explain(error: unknown, address: DatabaseAddress): DatabaseStartError | undefined {
  const explanation = explanationOf(error, address);
  return explanation === undefined ? undefined : new DatabaseStartError(explanation);
}

function explanationOf(
  error: unknown,
  { url, variable = 'DATABASE_URL' }: DatabaseAddress,
): string | undefined {
  if (error instanceof OperatorError) return undefined;
  const { code, message } = (error ?? {}) as { code?: string; message?: string };
  const parsed = databaseUrl(url);
  const host = decodeURIComponent(parsed?.host ?? '');
  const database = decodeURIComponent(parsed?.pathname.slice(1) ?? '');
  if (isCertificateRefused(code)) {
    return `The certificate of the database at ${host} is not trusted (${code}). Check that DATABASE_CA is the certificate of its authority, and that it is issued for the host in ${variable}.`;
  }
  if (message === TLS_NOT_SUPPORTED) {
    return `The database at ${host} does not support TLS, which ${variable}, DATABASE_CA or the environment variable PGSSLMODE requires.`;
  }
  if (code === '28000' && message?.includes('no encryption')) {
    return `The database at ${host} requires TLS: add ?sslmode=verify-full to ${variable}, or set DATABASE_CA.`;
  }
  // No rule of pg_hba.conf admits this machine, or the role may not log in: the password is not the cause.
  if (code === '28000') {
    return `The database at ${host} refused the user of ${variable}: ${message} (${code}).`;
  }
  if (code === '28P01') {
    return `The database at ${host} refused the user or password of ${variable}.`;
  }
  if (code === '25006') {
    return `The database at ${host} is read-only: ${message} (${code}). ${variable} must lead to the primary, and neither the role nor the database may set default_transaction_read_only.`;
  }
  if (isDatabaseUnavailable(error)) {
    // A code of PostgreSQL is its response: too many connections, a full disk, a statement that takes too long.
    return /^[0-9A-Z]{5}$/.test(code ?? '') && code !== 'EPIPE'
      ? `The database at ${host} responds, but cannot be used at the moment: ${message} (${code}).`
      : `The database at ${host} is unreachable (${code ?? message}). Is it running, and is ${variable} right?`;
  }
  if (code === INSUFFICIENT_PRIVILEGE && message?.includes('for database')) {
    return `The role of ${variable} may not connect to the database "${database}" (${message}). Grant it CONNECT: docs/database.md, "Database roles".`;
  }
  if (code === INSUFFICIENT_PRIVILEGE && /for (?:table|sequence|function)/.test(message ?? '')) {
    return `The role of ${variable} lacks privileges (${message}). Run "mcs-admin migrate" with DATABASE_URL and DATABASE_OWNER_URL, which grants them: docs/database.md, "Database roles".`;
  }
  if (code === INSUFFICIENT_PRIVILEGE) {
    return `The role of the database URL may not change the schema (${message}). Set DATABASE_OWNER_URL to migrate with the role that owns the tables, or set MIGRATE_ON_START=off and run "mcs-admin migrate" with that role.`;
  }
  if (code === '3D000') {
    return `The database server at ${host} has no database "${database}". Create it first.`;
  }
  return undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const FIRST_DELAY = 100;
const MAX_DELAY = 5 * SECOND;

/**
 * Runs work on the database, and retries it with growing delays while the database is unavailable, for example because
 * both start at the same time.
 *
 * @throws the last error once the timeout has passed, and any other error at once
 */
async function untilAvailable<Result>(
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

/**
 * Tables on which the role of the service gets fewer privileges: it cannot change audit log entries or the list of
 * migrations that ran, nor delete keys, without which everything encrypted is lost.
 */
const RESTRICTED_TABLES: Readonly<Record<string, string>> = {
  audit_chain: 'SELECT, INSERT, UPDATE',
  audit_log: 'SELECT, INSERT',
  data_key: 'SELECT, INSERT, UPDATE',
  key_check: 'SELECT, INSERT, UPDATE',
  schema_migration: 'SELECT',
};

/**
 * Grants the role of the running service the privileges that it needs on the current schema, which the current role
 * must own. Can be repeated. Tables that are created later, such as partitions, get the privileges when they are
 * created.
 */
async function grantToServiceRole(dataSource: DataSource, role: string): Promise<void> {
  const [{ name, schema, exists }] = await dataSource.query(
    `SELECT quote_ident($1) AS name, quote_ident(current_schema()) AS schema,
            EXISTS (SELECT FROM pg_roles WHERE rolname = $1) AS exists`,
    [role],
  );
  if (!exists)
    throw new DatabaseStartError(
      `The role "${role}" of DATABASE_URL does not exist. Create it, and run "mcs-admin migrate" again: docs/database.md, "Database roles".`,
    );
  const tables = 'SELECT, INSERT, UPDATE, DELETE';
  await dataSource.transaction(async (transaction) => {
    await transaction.query(`GRANT USAGE ON SCHEMA ${schema} TO ${name}`);
    await transaction.query(`GRANT ${tables} ON ALL TABLES IN SCHEMA ${schema} TO ${name}`);
    await transaction.query(`GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${schema} TO ${name}`);
    await transaction.query(`GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${schema} TO ${name}`);
    await transaction.query(
      `ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} GRANT ${tables} ON TABLES TO ${name}`,
    );
    for (const [table, privileges] of Object.entries(RESTRICTED_TABLES)) {
      await transaction.query(`REVOKE ALL ON ${table} FROM ${name}`);
      await transaction.query(`GRANT ${privileges} ON ${table} TO ${name}`);
    }
  });
}
