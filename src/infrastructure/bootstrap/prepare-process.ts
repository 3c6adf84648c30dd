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
  const given = loadConfiguration(environment, (loaded) => findProductionProblems(loaded, servesHttp));
  // Before the keys, because the embedded database decides who can enter a new data directory.
  const database = await provideDatabase(given, report);
  const missing = { ...database?.variables, ...missingKeys(given) };
  return {
    configuration: loadConfiguration({ ...environment, ...missing }),
    release: async () => database?.release(),
  };
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

function missingKeys(configuration: LoadedConfiguration): Environment {
  const { secretPepper, keyEncryptionKey } = configuration.get(CryptoConfiguration);
  const { dataDirectory } = configuration.get(ServiceConfiguration);
  const keyIn = (file: string): string => readOrCreateKey(join(dataDirectory, file));
  return {
    ...(secretPepper === undefined && { SECRET_PEPPER: keyIn('secret-pepper') }),
    ...(keyEncryptionKey === undefined && { KEY_ENCRYPTION_KEY: keyIn('key-encryption-key') }),
  };
}

async function provideDatabase(
  configuration: LoadedConfiguration,
  report: (message: string) => void,
): Promise<{ variables: Environment; release(): Promise<void> } | undefined> {
  if (configuration.get(DatabaseConfiguration).url !== undefined) return undefined;
  // Loaded on demand, because production never uses it.
  const { startEmbeddedPostgres } = await import('../embedded-postgres/index.js');
  const directory = resolve(configuration.get(ServiceConfiguration).dataDirectory, 'postgres');
  const server = await startEmbeddedPostgres({ directory, report });
  return { variables: { DATABASE_URL: server.url }, release: () => server.release() };
}
