import type pg from 'pg';
import type { DataSourceOptions } from 'typeorm';
import { driverAddress, type DatabaseAddress } from './database-address.js';
import type { Distribution } from './distribution/distributed-tables.js';
import { MIGRATIONS } from './migrations/index.js';
import { PreparingClient } from './prepared-statements.js';
import { TYPEORM_LOGGER } from './typeorm-logger.js';

export interface ConnectionOptions extends DatabaseAddress {
  readonly poolSize?: number;
  readonly connectTimeoutMilliseconds?: number;
  readonly statementTimeoutMilliseconds?: number;
  readonly distribution?: Distribution;
  /** Called when an idle connection of the pool is lost. */
  readonly onIdleConnectionLost?: (error: unknown) => void;
}

/**
 * A client with an error listener from the start. The pool removes its listener when it hands out a connection, and
 * TypeORM adds its own a moment later: without the listener here, a server that shuts down in between would crash this
 * process.
 */
class MonitoredClient extends PreparingClient {
  constructor(options?: pg.ClientConfig) {
    super(options);
    // Nothing to do here: the next statement on the connection fails with the error.
    this.on('error', () => undefined);
  }
}

/**
 * One connection of a session to each node. By default, Citus opens one for each shard when a batch of log entries is written:
 * 9 batches of 12 entries per second instead of 430, for 50 clients and 32 shards.
 */
const DISTRIBUTED_SESSION = '-c citus.max_adaptive_executor_pool_size=1';

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
      Client: MonitoredClient,
      application_name: 'merchant-connectivity-service',
      statement_timeout: options.statementTimeoutMilliseconds ?? 0,
      ...(options.distribution === 'citus' && { options: DISTRIBUTED_SESSION }),
      // Without keep-alive, TCP never notices that the server of an idle connection has vanished.
      keepAlive: true,
    },
  };
}
