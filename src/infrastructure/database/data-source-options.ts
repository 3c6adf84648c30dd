import { Logger as ServiceLogger } from '@nestjs/common';
import type { DataSourceOptions, Logger } from 'typeorm';
import { Client, POOLED_SESSION } from './client.js';
import { driverAddress, type DatabaseAddress } from './database-address.js';
import type { Distribution } from './database.configuration.js';
import { MIGRATIONS } from './migrations/index.js';

export interface ConnectionOptions extends DatabaseAddress {
  readonly poolSize?: number;
  readonly connectTimeoutMilliseconds?: number;
  readonly statementTimeoutMilliseconds?: number;
  readonly distribution?: Distribution;
  readonly onIdleConnectionLost?: (error: unknown) => void;
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
      options: [POOLED_SESSION, ...(options.distribution === 'citus' ? [DISTRIBUTED_SESSION] : [])].join(' '),
      keepAlive: true,
    },
  };
}
