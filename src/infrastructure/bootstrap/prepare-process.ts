import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import {
  loadConfiguration,
  ServiceConfiguration,
  type Environment,
  type LoadedConfiguration,
  type ProductionRules,
} from '../config/index.js';
import { CryptoConfiguration } from '../crypto/index.js';
import {
  checkDatabase,
  checkDistribution,
  DatabaseConfiguration,
  migrateConfigured,
} from '../database/index.js';

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

const KEY_BYTES = 32;

/**
 * Returns the key in the file: 32 bytes in base64. If the file does not exist, creates it with a random key, readable
 * only by its owner. If several processes create it at the same time, all of them return the same key.
 */
export function readOrCreateKey(file: string): string {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, randomBytes(KEY_BYTES).toString('base64'), { mode: 0o600 });
  try {
    // Unlike writing the file, linking is atomic: no process reads half a key.
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
  return readFileSync(file, 'utf8').trim();
}

/**
 * Lists settings that are acceptable in development but not in production, as the classes of the settings define them.
 *
 * @param servesHttp whether the process serves its surfaces; other processes send only emails, with links to the dashboard
 */
export function findProductionProblems(configuration: LoadedConfiguration, servesHttp: boolean): string[] {
  const service = configuration.get(ServiceConfiguration);
  if (!service.isProduction) return [];
  return configuration.classes().flatMap((target) => {
    const rules = configuration.get(target) as Partial<ProductionRules>;
    return rules.productionProblems?.(service, servesHttp) ?? [];
  });
}
