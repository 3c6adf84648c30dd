import { join } from 'node:path';
import { Logger as ServiceLogger } from '@nestjs/common';
import type { DataSourceOptions, Logger } from 'typeorm';
import { Client, POOLED_SESSION } from './client.js';
import { PoolDriver } from './pool-driver.js';
import { driverAddress, type DatabaseAddress } from './database-address.js';
import type { Distribution } from './database.configuration.js';
import type { SessionSettings } from './session-settings.js';

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
const DISTRIBUTED_SESSION: SessionSettings = { 'citus.max_adaptive_executor_pool_size': '1' };

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

/**
 * The files of migrations begin with their number. Never edit one that has landed, released or not. A new database runs
 * `docs/schema.sql` instead, and then the migrations that the file does not contain yet.
 */
const MIGRATIONS = join(import.meta.dirname, 'migrations', '[0-9]*.{js,ts}');

/** Returns the TypeORM options of every connection. Only migrations change the schema. */
export function dataSourceOptions(options: ConnectionOptions): DataSourceOptions {
  const { connectionString, ssl } = driverAddress(options);
  return {
    type: 'postgres',
    url: connectionString,
    ...(ssl && { ssl }),
    migrations: [MIGRATIONS],
    migrationsTableName: 'schema_migration',
    migrationsTransactionMode: 'each',
    synchronize: false,
    logger: TYPEORM_LOGGER,
    driver: new PoolDriver(),
    poolSize: options.poolSize ?? 2,
    connectTimeoutMS: options.connectTimeoutMilliseconds ?? 5_000,
    poolErrorHandler: options.onIdleConnectionLost ?? (() => undefined),
    extra: {
      Client,
      application_name: 'merchant-connectivity-service',
      session: {
        ...POOLED_SESSION,
        statement_timeout: String(options.statementTimeoutMilliseconds ?? 0),
        ...(options.distribution === 'citus' && DISTRIBUTED_SESSION),
      },
      keepAlive: true,
    },
  };
}
