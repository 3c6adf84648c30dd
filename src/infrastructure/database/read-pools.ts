import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import { SECOND } from '../time/index.js';
import type { DriverAddress } from './database-address.js';
import { DatabaseConfiguration } from './database.configuration.js';
import { PoolMetrics } from './pool-metrics.js';
import { isStatementCanceled } from './sql-state.js';

/** Added to the server's own limit: past it the network or the server is gone, and the connection with it. */
const NETWORK_TIMEOUT = 2 * SECOND;
/** What `pg` says when no connection became free in time. */
const NO_CONNECTION_IN_TIME = 'timeout exceeded when trying to connect';

/** The statement ran past its time, or waited as long for a connection to run on. */
export class QueryTimeout extends Error {}

export interface ReadPoolOptions {
  readonly connections: number;
  /** How long a statement may run, and how long it may wait for a connection before that. */
  readonly timeoutMilliseconds: number;
}

/** A few connections apart from all others, on which nothing can be written. */
export class ReadPool {
  readonly pool: pg.Pool;

  constructor(name: string, address: DriverAddress, { connections, timeoutMilliseconds }: ReadPoolOptions) {
    this.pool = new pg.Pool({
      ...address,
      application_name: `merchant-connectivity-service ${name}`,
      max: connections,
      keepAlive: true,
      connectionTimeoutMillis: timeoutMilliseconds,
      statement_timeout: timeoutMilliseconds,
      query_timeout: timeoutMilliseconds + NETWORK_TIMEOUT,
      // A statement may take its time, but not the other processors too.
      options: '-c default_transaction_read_only=on -c max_parallel_workers_per_gather=0 -c jit=off',
    });
    this.pool.on('error', (error) =>
      new Logger('Database').warn(`A connection for ${name} was lost: ${error.message}`),
    );
  }

  /** @throws QueryTimeout */
  async query<Row extends object>(statement: string, values: readonly unknown[] = []): Promise<Row[]> {
    try {
      const { rows } = await this.pool.query<Row>(statement, [...values]);
      return rows;
    } catch (error) {
      const isLate =
        isStatementCanceled(error) || (error instanceof Error && error.message === NO_CONNECTION_IN_TIME);
      throw isLate ? new QueryTimeout('The query took too long', { cause: error }) : error;
    }
  }

  close(): Promise<void> {
    return this.pool.end();
  }
}

/**
 * For statements that callers can make slow: they wait for each other on connections of their own, and
 * nobody else waits for them. Nothing connects before the first statement.
 */
@Injectable()
export class ReadPools implements OnApplicationShutdown {
  private readonly pools: ReadPool[] = [];

  constructor(
    private readonly configuration: DatabaseConfiguration,
    private readonly metrics: PoolMetrics,
  ) {}

  open(name: string, options: ReadPoolOptions): ReadPool {
    const pool = new ReadPool(name, this.configuration.driverAddress, options);
    this.pools.push(pool);
    this.metrics.watch(name, () => pool.pool);
    return pool;
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.pools.map((pool) => pool.close()));
  }
}
