import { join, resolve } from 'node:path';
import {
  loadConfiguration,
  ServiceConfiguration,
  type Environment,
  type LoadedConfiguration,
} from '../config/index.js';
import { CryptoConfiguration } from '../crypto/index.js';
import { checkDatabase, DatabaseConfiguration, migrate } from '../database/index.js';
import { HttpClientConfiguration } from '../http-client/index.js';
import { generatedKey } from './generated-key.js';

/** What a process stands on before Nest starts: its configuration, its keys and a database. */
export interface Foundation {
  readonly configuration: LoadedConfiguration;
  /** Lets go of the embedded database; the last process to do so stops it. */
  release(): Promise<void>;
}

const NOTHING_TO_RELEASE = async (): Promise<void> => undefined;

/**
 * Reads the configuration and, outside production, supplies what a developer did not set: generated keys
 * and an embedded PostgreSQL.
 *
 * @param report hears sentences about what happens, for the operator
 * @throws ConfigurationError, DatabaseStartError or EmbeddedPostgresError with a sentence for the operator
 */
export async function layFoundation(
  environment: Environment,
  report: (sentence: string) => void,
): Promise<Foundation> {
  const configuration = loadConfiguration(environment, unfitForProduction);
  provideKeys(configuration);
  return { configuration, release: await provideDatabase(configuration, report) };
}

/** Brings the schema up to date, or only makes sure that the database can be used. */
export async function prepareSchema(configuration: LoadedConfiguration): Promise<void> {
  const { url = '', authority, migrateOnStart } = configuration.get(DatabaseConfiguration);
  await (migrateOnStart ? migrate(url, authority) : checkDatabase(url, authority));
}

/** What a developer's installation is supplied with or allowed, and production is not. */
function unfitForProduction(configuration: LoadedConfiguration): string[] {
  const service = configuration.get(ServiceConfiguration);
  if (!service.isProduction) return [];
  const keys = configuration.get(CryptoConfiguration);
  const database = configuration.get(DatabaseConfiguration);
  return [
    ...(database.url
      ? []
      : ['DATABASE_URL is required in production: the embedded database is for development.']),
    ...(keys.secretPepper ? [] : ['SECRET_PEPPER is required in production.']),
    ...(keys.keyEncryptionKey ? [] : ['KEY_ENCRYPTION_KEY is required in production.']),
    ...(service.dashboardUrl || !service.serves('dashboard')
      ? []
      : ['DASHBOARD_URL is required in production: it is the issuer of access tokens.']),
    ...(configuration.get(HttpClientConfiguration).allowsAnyTarget
      ? ['WEBHOOK_TARGETS=any is refused in production: anybody could have the inner network called.']
      : []),
  ];
}

function provideKeys(configuration: LoadedConfiguration): void {
  const keys = configuration.get(CryptoConfiguration);
  const { dataDirectory } = configuration.get(ServiceConfiguration);
  keys.secretPepper ??= generatedKey(join(dataDirectory, 'secret-pepper'));
  keys.keyEncryptionKey ??= generatedKey(join(dataDirectory, 'key-encryption-key'));
}

async function provideDatabase(
  configuration: LoadedConfiguration,
  report: (sentence: string) => void,
): Promise<() => Promise<void>> {
  const database = configuration.get(DatabaseConfiguration);
  const service = configuration.get(ServiceConfiguration);
  if (database.url !== undefined) return NOTHING_TO_RELEASE;
  // Not imported where it is not used.
  const { startEmbeddedPostgres } = await import('../embedded-postgres/index.js');
  const server = await startEmbeddedPostgres({
    directory: resolve(service.dataDirectory, 'postgres'),
    report,
  });
  database.url = server.url;
  return () => server.release();
}
