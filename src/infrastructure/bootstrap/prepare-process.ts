import { join, resolve } from 'node:path';
import {
  loadConfiguration,
  ServiceConfiguration,
  type Environment,
  type LoadedConfiguration,
} from '../config/index.js';
import { CryptoConfiguration } from '../crypto/index.js';
import {
  checkDatabase,
  checkDistribution,
  DatabaseConfiguration,
  migrateConfigured,
} from '../database/index.js';
import { readOrCreateKey } from './key-file.js';
import { findProductionProblems } from './production-problems.js';

/** The result of `prepareProcess`: everything that must exist before Nest starts. */
export interface PreparedProcess {
  readonly configuration: LoadedConfiguration;
  /** Releases the embedded database, if there is one. The last process that releases it stops it. */
  release(): Promise<void>;
}

/**
 * Loads the configuration. Outside production, generates missing keys, and starts an embedded PostgreSQL if
 * `DATABASE_URL` is not set.
 *
 * @param report receives progress messages for the operator
 * @param options.servesHttp whether the process serves its surfaces, and so needs their addresses
 * @throws ConfigurationError or EmbeddedPostgresError, with a message for the operator
 */
export async function prepareProcess(
  environment: Environment,
  report: (message: string) => void,
  { servesHttp = true } = {},
): Promise<PreparedProcess> {
  const configuration = loadConfiguration(environment, (loaded) =>
    findProductionProblems(loaded, servesHttp),
  );
  // Before the keys, because the embedded database decides who can enter a new data directory.
  const release = await provideDatabase(configuration, report);
  provideKeys(configuration);
  return { configuration, release };
}

/**
 * Migrates the schema, and checks that the database is distributed as configured. If MIGRATE_ON_START is off, only checks that
 * the schema is up to date.
 */
export async function prepareSchema(configuration: LoadedConfiguration): Promise<void> {
  const database = configuration.get(DatabaseConfiguration);
  const { url = '', authority, startTimeoutMilliseconds } = database;
  if (database.migrateOnStart) await migrateConfigured(database);
  else await checkDatabase(url, authority, startTimeoutMilliseconds);
  await checkDistribution(database);
}

function provideKeys(configuration: LoadedConfiguration): void {
  const keys = configuration.get(CryptoConfiguration);
  const { dataDirectory } = configuration.get(ServiceConfiguration);
  keys.secretPepper ??= readOrCreateKey(join(dataDirectory, 'secret-pepper'));
  keys.keyEncryptionKey ??= readOrCreateKey(join(dataDirectory, 'key-encryption-key'));
}

async function provideDatabase(
  configuration: LoadedConfiguration,
  report: (message: string) => void,
): Promise<() => Promise<void>> {
  const database = configuration.get(DatabaseConfiguration);
  const service = configuration.get(ServiceConfiguration);
  if (database.url !== undefined) return async () => undefined;
  // Loaded on demand, because production never uses it.
  const { startEmbeddedPostgres } = await import('../embedded-postgres/index.js');
  const server = await startEmbeddedPostgres({
    directory: resolve(service.dataDirectory, 'postgres'),
    report,
  });
  database.url = server.url;
  return () => server.release();
}
