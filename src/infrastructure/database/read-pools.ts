import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import { SECOND } from '../time/index.js';
import type { DriverAddress } from './database-address.js';
import { DatabaseConfiguration } from './database.configuration.js';
import { PoolMetrics } from './pool-metrics.js';
import { isStatementCanceled } from './sql-state.js';

/** Added to the statement timeout. If no response arrives by then, the network or the server is down. */
const NETWORK_TIMEOUT = 2 * SECOND;
/** The message of `pg` when no connection became free in time. */
const CONNECTION_TIMEOUT = 'timeout exceeded when trying to connect';

/** The statement exceeded its timeout, or waited that long for a connection. */
export class QueryTimeout extends Error {}

export interface ReadPoolOptions {
  readonly connections: number;
  /** Limits how long a statement runs, and separately how long it waits for a connection. */
  readonly timeoutMilliseconds: number;
}

/** A separate pool of a few read-only connections. */
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
      // A statement may be slow, but must not use more than one processor.
      options: '-c default_transaction_read_only=on -c max_parallel_workers_per_gather=0 -c jit=off',
    });
    this.pool.on('error', (error) =>
      new Logger('Database').warn(`A connection of the pool ${name} was lost: ${error.message}`),
    );
  }

  /** @throws QueryTimeout */
  async query<Row extends object>(statement: string, values: readonly unknown[] = []): Promise<Row[]> {
    try {
      const { rows } = await this.pool.query<Row>(statement, [...values]);
      return rows;
    } catch (error) {
      const isLate =
        isStatementCanceled(error) || (error instanceof Error && error.message === CONNECTION_TIMEOUT);
      throw isLate ? new QueryTimeout('The query took too long', { cause: error }) : error;
    }
  }

  close(): Promise<void> {
    return this.pool.end();
  }
}

/**
 * Opens separate pools for statements that clients can make slow, so that these wait only for one another and do not
 * block the rest of the service. A pool connects when its first statement runs.
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
