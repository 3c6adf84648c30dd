import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { CounterMetric, GaugeMetric, Metrics, type CounterValue } from '../metrics/index.js';
import { Client, POOLED_SESSION, isDatabaseSilent } from './client.js';
import type { DriverAddress } from './database-address.js';
import { DatabaseConfiguration } from './database.configuration.js';
import { poolOf } from './pool-driver.js';
import { ReadReplica } from './read-replica.js';
import type { SessionSettings } from './session-settings.js';
import { isDatabaseUnavailable, isStatementCanceled, isTransient, repeatedOnce } from './sql-state.js';

/** The message of `pg` when no connection became free in time. */
const CONNECTION_TIMEOUT = 'timeout exceeded when trying to connect';

const RETRIES = new CounterMetric({
  name: 'mcs_database_replica_retries_total',
  help: 'Queries that failed on the read replica, because it became unavailable or canceled them to replay changes, and used the primary.',
  labels: ['pool'],
});

const CONNECTIONS = new GaugeMetric({
  name: 'mcs_database_pool_connections',
  help: 'Open connections, by state: `idle` or `in_use`.',
  labels: ['pool', 'state'],
});
const LIMIT = new GaugeMetric({
  name: 'mcs_database_pool_limit',
  help: 'Maximum number of open connections.',
  labels: ['pool'],
});
const WAITING = new GaugeMetric({
  name: 'mcs_database_pool_waiting',
  help: 'Number of statements and transactions that wait for a connection.',
  labels: ['pool'],
});

/** Reports how busy the connection pools are. */
@Injectable()
export class PoolMetrics {
  private readonly watched = new Map<string, () => pg.Pool | undefined>();

  constructor(metrics: Metrics, dataSource: DataSource) {
    this.watch('main', () => poolOf(dataSource));
    metrics.gauge(CONNECTIONS, () =>
      this.pools().flatMap(([pool, { totalCount, idleCount }]) => [
        { labels: { pool, state: 'idle' }, value: idleCount },
        { labels: { pool, state: 'in_use' }, value: totalCount - idleCount },
      ]),
    );
    metrics.gauge(LIMIT, () =>
      this.pools().map(([pool, { options }]) => ({ labels: { pool }, value: options.max })),
    );
    metrics.gauge(WAITING, () =>
      this.pools().map(([pool, { waitingCount }]) => ({ labels: { pool }, value: waitingCount })),
    );
  }

  /** Adds a pool. @param name the value of its label `pool` */
  watch(name: string, pool: () => pg.Pool | undefined): void {
    this.watched.set(name, pool);
  }

  private pools(): [string, pg.Pool][] {
    return [...this.watched].flatMap(([name, getPool]) => {
      const pool = getPool();
      return pool ? [[name, pool]] : [];
    });
  }
}

/** The statement exceeded its timeout, or waited that long for a connection. */
export class QueryTimeout extends Error {
  /** Whether the statement ran, and did not only wait. */
  get hasRun(): boolean {
    return isStatementCanceled(this.cause);
  }
}

export interface ReadPoolOptions {
  readonly connections: number;
  /** Limits how long a statement runs, and separately how long it waits for a connection. */
  readonly timeoutMilliseconds: number;
  /**
   * Whether queries may use the read replica, if there is one, and see the database as it was a few seconds ago. Never for
   * queries that decide something.
   */
  readonly mayLag?: boolean;
  /** Further settings of the sessions. */
  readonly session?: SessionSettings;
}

export interface ReadOptions {
  /**
   * The query uses the primary. Set after a query that had to use it, so that no later query with these options goes back to an
   * older state on the replica.
   */
  isFresh?: boolean;
}

/** The replica that a pool may use while its lag is within the limit, and what counts the queries that it failed. */
interface ReplicaOfPool {
  readonly pool: pg.Pool;
  readonly state: ReadReplica;
  readonly countRetry: () => void;
}

/** A separate pool of a few read-only connections. */
export class ReadPool {
  readonly pool: pg.Pool;

  constructor(
    name: string,
    private readonly address: DriverAddress,
    { connections, timeoutMilliseconds, session }: ReadPoolOptions,
    private readonly replica?: ReplicaOfPool,
  ) {
    this.pool = new pg.Pool({
      ...address,
      Client,
      application_name: `merchant-connectivity-service ${name}`,
      max: connections,
      keepAlive: true,
      connectionTimeoutMillis: timeoutMilliseconds,
      session: {
        ...POOLED_SESSION,
        statement_timeout: String(timeoutMilliseconds),
        default_transaction_read_only: 'on',
        // A statement may be slow, but must not use more than one processor.
        max_parallel_workers_per_gather: '0',
        jit: 'off',
        ...session,
      },
    });
    this.pool.on('error', (error) =>
      new Logger('Database').warn(`A connection of the pool ${name} was lost: ${error.message}`),
    );
  }

  /** @throws QueryTimeout */
  async query<Row extends object>(
    statement: string,
    values: readonly unknown[] = [],
    options: ReadOptions = {},
  ): Promise<Row[]> {
    try {
      return await this.run<Row>(statement, values, options);
    } catch (error) {
      throw isLate(error) && !this.isSilent
        ? new QueryTimeout('The query took too long', { cause: error })
        : error;
    }
  }

  /** Whether the database did not respond a moment ago. */
  get isSilent(): boolean {
    return isDatabaseSilent(this.address.connectionString);
  }

  close(): Promise<void> {
    return this.pool.end();
  }

  private async run<Row extends object>(
    statement: string,
    values: readonly unknown[],
    options: ReadOptions,
  ): Promise<Row[]> {
    const replayed = options.isFresh ? undefined : await this.tryReplica<Row>(statement, values);
    if (replayed) return replayed;
    options.isFresh = true;
    const { rows } = await repeatedOnce(() => this.pool.query<Row>(statement, [...values]));
    return rows;
  }

  /** Returns undefined if the query cannot use the replica, or failed because of it. */
  private async tryReplica<Row extends object>(
    statement: string,
    values: readonly unknown[],
  ): Promise<Row[] | undefined> {
    const { replica } = this;
    if (!replica || !(await replica.state.isUsable())) return undefined;
    try {
      const { rows } = await replica.pool.query<Row>(statement, [...values]);
      return rows;
    } catch (error) {
      // A slow query would be slow on the primary, too. While the replica cannot be reached, queries that wait for a
      // connection to it look slow.
      if (isLate(error) ? await replica.state.isUsable() : !isFailureOfReplica(error)) throw error;
      replica.countRetry();
      return undefined;
    }
  }
}

function isLate(error: unknown): boolean {
  return isStatementCanceled(error) || (error instanceof Error && error.message === CONNECTION_TIMEOUT);
}

/**
 * A replica cancels a query if it would otherwise have to wait with replaying a change, with the code of a serialization
 * failure or a deadlock.
 */
function isFailureOfReplica(error: unknown): boolean {
  return isTransient(error) || isDatabaseUnavailable(error);
}

/**
 * Opens separate pools for statements that clients can make slow, so that these wait only for one another and do not
 * block the rest of the service. A pool connects when its first statement runs.
 */
@Injectable()
export class ReadPools implements OnApplicationShutdown {
  private readonly pools: ReadPool[] = [];
  private readonly retries: CounterValue<'pool'>;

  constructor(
    private readonly configuration: DatabaseConfiguration,
    private readonly replica: ReadReplica,
    private readonly poolMetrics: PoolMetrics,
    metrics: Metrics,
  ) {
    this.retries = metrics.counter(RETRIES);
  }

  open(name: string, options: ReadPoolOptions): ReadPool {
    const { driverAddress, readAddress } = this.configuration;
    if (!options.mayLag || !readAddress) return this.add(name, new ReadPool(name, driverAddress, options));
    const replicaName = `${name}-replica`;
    const { pool } = this.add(replicaName, new ReadPool(replicaName, readAddress, options));
    const countRetry = (value?: number): void => this.retries.inc({ pool: name }, value);
    countRetry(0);
    const replica = { pool, state: this.replica, countRetry };
    return this.add(name, new ReadPool(name, driverAddress, options, replica));
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.pools.map((pool) => pool.close()));
  }

  private add(name: string, pool: ReadPool): ReadPool {
    this.pools.push(pool);
    this.poolMetrics.watch(name, () => pool.pool);
    return pool;
  }
}
