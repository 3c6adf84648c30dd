import { Logger as ServiceLogger } from '@nestjs/common';
import pg from 'pg';
import type { DataSourceOptions, Logger } from 'typeorm';
import { driverAddress, type DatabaseAddress } from './database-address.js';
import type { Distribution } from './database.configuration.js';
import { MIGRATIONS } from './migrations/index.js';

export interface ConnectionOptions extends DatabaseAddress {
  readonly poolSize?: number;
  readonly connectTimeoutMilliseconds?: number;
  readonly statementTimeoutMilliseconds?: number;
  readonly distribution?: Distribution;
  /** Called when an idle connection of the pool is lost. */
  readonly onIdleConnectionLost?: (error: unknown) => void;
}

const names = new Map<string, string>();

/**
 * Marks a statement that runs so often that planning it each time would cost more than running it. Every connection
 * prepares it once. Use it for a constant only: prepared statements stay in memory.
 *
 * @returns the same text, which repositories run as any other statement
 */
export function prepared(statement: string): string {
  if (!names.has(statement)) names.set(statement, `prepared_${names.size + 1}`);
  return statement;
}

/**
 * A client that runs statements marked by `prepared()` as prepared statements, because TypeORM cannot name statements. It has an
 * error listener from the start: the pool removes its listener when it hands out a connection, and TypeORM adds its own a moment
 * later, so a server that shuts down in between would crash this process.
 */
class Client extends pg.Client {
  constructor(options?: pg.ClientConfig) {
    super(options);
    // Nothing to do here: the next statement on the connection fails with the error.
    this.on('error', () => undefined);
    const query = this.query.bind(this) as (...parameters: unknown[]) => unknown;
    this.query = ((statement: unknown, ...rest: unknown[]) => {
      const name = typeof statement === 'string' ? names.get(statement) : undefined;
      return query(name === undefined ? statement : { name, text: statement }, ...rest);
    }) as typeof this.query;
  }
}

/**
 * One connection of a session to each node. By default, Citus opens one for each shard when a batch of log entries is written:
 * 9 batches of 12 entries per second instead of 430, for 50 clients and 32 shards.
 */
const DISTRIBUTED_SESSION = '-c citus.max_adaptive_executor_pool_size=1';

const IGNORED = (): void => undefined;

/** Logs TypeORM's messages about migrations as structured lines. Ignores all others: a failed statement also rejects. */
const TYPEORM_LOGGER: Logger = {
  logQuery: IGNORED,
  logQueryError: IGNORED,
  logQuerySlow: IGNORED,
  logSchemaBuild: IGNORED,
  logMigration: (message) => new ServiceLogger('Database').log(message),
  log: IGNORED,
};

/** Returns the TypeORM options of every connection. Only migrations change the schema. */
export function dataSourceOptions(options: ConnectionOptions): DataSourceOptions {
  const { connectionString, ssl } = driverAddress(options);
  return {
    type: 'postgres',
    url: connectionString,
    ...(ssl && { ssl }),
    migrations: MIGRATIONS,
    migrationsTableName: 'schema_migration',
    migrationsTransactionMode: 'each',
    synchronize: false,
    logger: TYPEORM_LOGGER,
    poolSize: options.poolSize ?? 2,
    connectTimeoutMS: options.connectTimeoutMilliseconds ?? 5_000,
    poolErrorHandler: options.onIdleConnectionLost ?? (() => undefined),
    extra: {
      Client,
      application_name: 'merchant-connectivity-service',
      statement_timeout: options.statementTimeoutMilliseconds ?? 0,
      ...(options.distribution === 'citus' && { options: DISTRIBUTED_SESSION }),
      // Without keep-alive, TCP never notices that the server of an idle connection has vanished.
      keepAlive: true,
    },
  };
}
