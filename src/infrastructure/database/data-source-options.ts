import pg from 'pg';
import type { DataSourceOptions } from 'typeorm';
import { driverAddress, type DatabaseAddress } from './database-address.js';
import { MIGRATIONS } from './migrations/index.js';

export interface ConnectionOptions extends DatabaseAddress {
  readonly poolSize?: number;
  readonly connectTimeoutMilliseconds?: number;
  readonly statementTimeoutMilliseconds?: number;
  /** Hears of connections that broke while they lay idle in the pool. */
  readonly onIdleConnectionLost?: (error: unknown) => void;
}

/**
 * Somebody listens to its errors from the first moment on. The pool stops to listen when it hands a connection out, and
 * TypeORM begins a moment later: a server that shuts down in between would end this process with it.
 */
class MonitoredClient extends pg.Client {
  constructor(options?: pg.ClientConfig) {
    super(options);
    // Whoever uses the connection next is told that it is broken.
    this.on('error', () => undefined);
  }
}

/** How this service speaks to PostgreSQL; the schema only ever changes through migrations. */
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
    poolSize: options.poolSize ?? 2,
    connectTimeoutMS: options.connectTimeoutMilliseconds ?? 5_000,
    poolErrorHandler: options.onIdleConnectionLost ?? (() => undefined),
    extra: {
      Client: MonitoredClient,
      application_name: 'merchant-connectivity-service',
      statement_timeout: options.statementTimeoutMilliseconds ?? 0,
      // A replica that vanished without closing must be noticed before TCP's own two hours.
      keepAlive: true,
    },
  };
}
