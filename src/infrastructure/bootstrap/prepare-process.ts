import { join, resolve } from 'node:path';
import {
  loadConfiguration,
  ServiceConfiguration,
  type Environment,
  type LoadedConfiguration,
} from '../config/index.js';
import { CryptoConfiguration } from '../crypto/index.js';
import { checkDataDirectory } from '../data-directory/index.js';
import {
  checkDatabase,
  checkDistribution,
  DatabaseConfiguration,
  migrateConfigured,
} from '../database/index.js';
import { OperatorError } from '../errors/index.js';
import { findFurtherProblems } from './further-problems.js';
import { readOrCreateKey } from './key-file.js';

/** The result of `prepareProcess`: everything that must exist before Nest starts. */
export interface PreparedProcess {
  readonly configuration: LoadedConfiguration;
  /** For the log, once there is one. */
  readonly warnings: readonly string[];
  /** Releases the embedded database, if there is one. The last process that releases it stops it. */
  release(): Promise<void>;
}

/**
 * Loads the configuration. Outside production, generates missing keys, and starts an embedded PostgreSQL if
 * `DATABASE_URL` is not set.
 *
 * @param report receives progress messages for the operator
 * @param options.servesHttp whether the process serves its surfaces, and so needs their addresses
 * @param options.writesFiles whether the process runs the service, which needs the data directory. Only the service creates a database
 * @throws ConfigurationError or EmbeddedPostgresError, with a message for the operator
 */
export async function prepareProcess(
  environment: Environment,
  report: (message: string) => void,
  { servesHttp = true, writesFiles = false } = {},
): Promise<PreparedProcess> {
  const given = loadConfiguration(environment, (loaded) => findFurtherProblems(loaded, servesHttp));
  // Before everything else that uses the data directory, because the embedded database decides who can enter a new one.
  const database = await provideDatabase(given, report, writesFiles);
  const release = async (): Promise<void> => database?.release();
  try {
    const warnings = writesFiles ? await dataDirectoryWarnings(given) : [];
    const missing = { ...database?.variables, ...missingKeys(given) };
    return { configuration: loadConfiguration({ ...environment, ...missing }), warnings, release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** A full disk prevents no start: the service writes files only if something else fails. */
async function dataDirectoryWarnings(configuration: LoadedConfiguration): Promise<string[]> {
  const problem = await checkDataDirectory(configuration.get(ServiceConfiguration).dataDirectory);
  if (problem === undefined) return [];
  const sentence = `${problem.finding} ${problem.remedy}`;
  if (!problem.isSpace) throw new OperatorError(sentence);
  return [sentence];
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
  isService: boolean,
): Promise<{ variables: Environment; release(): Promise<void> } | undefined> {
  if (configuration.get(DatabaseConfiguration).url !== undefined) return undefined;
  const data = resolve(configuration.get(ServiceConfiguration).dataDirectory);
  const directory = join(data, 'postgres');
  // Loaded on demand, because production never uses it.
  const { hasCluster, startEmbeddedPostgres } = await import('../embedded-postgres/index.js');
  // Otherwise a command in another folder than that of the service would work on an empty database.
  if (!isService && !(await hasCluster(directory)))
    throw new OperatorError(
      `There is no database: DATABASE_URL is not set, and DATA_DIR=${data} has none. Run the command in the folder of the service, or set one of the two. The service creates a database when it starts.`,
    );
  const server = await startEmbeddedPostgres({ directory, report });
  return { variables: { DATABASE_URL: server.url }, release: () => server.release() };
}
