import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import pg from 'pg';
import { OperatorError } from '../errors/index.js';
import { GaugeMetric, Metrics } from '../metrics/index.js';
import { SECOND } from '../time/index.js';
import { BatchedStatement } from './batched-statement.js';
import { Client } from './client.js';
import type { DriverAddress } from './database-address.js';
import { DatabaseConfiguration } from './database.configuration.js';
import { ReplicaLag } from './replica-lag.js';

/** Milliseconds. */
const CHECK_INTERVAL = SECOND / 2;
const CHECK_TIMEOUT = 2 * SECOND;
const INSPECTION_INTERVAL = 50;
/** How long a query waits for a replica that is almost current. */
const CATCH_UP_TIMEOUT = SECOND / 4;
const CATCH_UP_INTERVAL = 5;
/** A replica that is further behind would not catch up within the timeout. */
const CATCH_UP_SECONDS = 1;
/** Limits the memory for writers whose last write the replica lacks. */
const MAX_WRITERS = 10_000;

const NOT_A_REPLICA = 'The server of DATABASE_READ_URL is not a replica. Was it promoted?';
const ANOTHER_DATABASE =
  'DATABASE_READ_URL does not lead to a replica of the database of DATABASE_URL: the cluster or the database differs.';

const STATES = ['current', 'behind', 'unavailable', 'unconfigured'] as const;
type State = (typeof STATES)[number];
const STATE = new GaugeMetric({
  name: 'mcs_database_replica_state',
  help: '1 for the current state of the read replica, 0 for the others. Queries use the replica only while the state is `current`. It is `behind` if the lag exceeds the limit or is not known yet. Only processes that serve HTTP use a replica; the others are always `unconfigured`.',
  labels: ['state'],
});
const LAG = new GaugeMetric({
  name: 'mcs_database_replica_lag_seconds',
  help: 'How far the read replica is behind the primary: the age of the oldest change that it has not replayed, in steps of half a second. Absent if it is not known.',
});

interface ServerStatus {
  readonly isReplica: boolean;
  /** The last position in the write-ahead log: written by a primary, or replayed by a replica. */
  readonly position: bigint;
  /** Differs between all clusters, and between the databases of a cluster. */
  readonly identity: string;
}

async function statusOf(server: pg.Pool): Promise<ServerStatus> {
  const { rows } = await server.query<Omit<ServerStatus, 'position'> & { readonly position: string | null }>(
    `SELECT pg_is_in_recovery() AS "isReplica",
            pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END,
                            '0/0')::text AS position,
            (SELECT system_identifier FROM pg_control_system()) || '/' ||
            (SELECT oid FROM pg_database WHERE datname = current_database()) AS identity`,
  );
  const [{ isReplica, identity, position }] = rows as [(typeof rows)[0]];
  return { isReplica, identity, position: BigInt(position ?? 0) };
}

/** Returns why queries cannot use the replica, however little it is behind. */
function problemOf(primary: ServerStatus | undefined, replica: ServerStatus): string | undefined {
  if (primary && primary.identity !== replica.identity) return ANOTHER_DATABASE;
  return replica.isReplica ? undefined : NOT_A_REPLICA;
}

interface Servers {
  readonly primary: pg.Pool;
  readonly replica: pg.Pool;
}

/** Opens a connection to each server for one purpose, so that nothing else delays it. A connection is opened when it is used. */
function openServers(
  primary: DriverAddress,
  replica: DriverAddress,
  purpose: 'replica-check' | 'replica-wait',
): Servers {
  const open = (address: DriverAddress): pg.Pool => {
    const pool = new pg.Pool({
      ...address,
      Client,
      application_name: `merchant-connectivity-service ${purpose}`,
      max: 1,
      keepAlive: true,
      connectionTimeoutMillis: CHECK_TIMEOUT,
      statement_timeout: CHECK_TIMEOUT,
      query_timeout: CHECK_TIMEOUT,
    });
    // The next statement fails, too.
    pool.on('error', () => undefined);
    return pool;
  };
  return { primary: open(primary), replica: open(replica) };
}

async function close({ primary, replica }: Servers): Promise<void> {
  await Promise.all([primary.end(), replica.end()]);
}

/**
 * Watches the replica of `DATABASE_READ_URL`, and decides whether queries may use it. Only processes that serve HTTP use it:
 * the others have few queries that could, and commands of operators should see everything.
 */
@Injectable()
export class ReadReplica implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Database');
  private readonly lag = new ReplicaLag();
  private readonly stopped = new AbortController();
  private state: State = 'unconfigured';
  private isPrimaryAvailable = false;
  private isReportedUnused = false;
  /** When a query last used the primary although it may use a replica, in milliseconds of a monotonic clock. */
  private primaryReadAt = -Infinity;
  /** When each writer last wrote or used the primary, oldest first, in milliseconds of a monotonic clock. */
  private readonly writes = new Map<string, number>();
  /** The connections of queries that wait for the replica. */
  private servers: Servers | undefined;
  /** Queries that arrive during a wait share the next one: what the first saw on the primary may lack what they look for. */
  private readonly waits = new BatchedStatement<undefined, boolean>({
    execute: async (queries) => {
      const catchesUp = await this.catchUp();
      return queries.map(() => catchesUp);
    },
    maxRows: Infinity,
    maxStatements: 1,
  });
  private watching: Promise<void> | undefined;

  constructor(
    private readonly configuration: DatabaseConfiguration,
    private readonly adapterHost: HttpAdapterHost,
    metrics: Metrics,
  ) {
    metrics.gauge(STATE, () =>
      STATES.map((state) => ({ labels: { state }, value: Number(state === this.state) })),
    );
    metrics.gauge(LAG, () => {
      const value = this.state === 'unavailable' ? undefined : this.lag.seconds;
      return value === undefined ? [] : [{ labels: {}, value }];
    });
  }

  /**
   * Whether a query may use the replica. After a query that used the primary, the replica must first catch up with what the
   * query saw: otherwise, the next page or the next statement would be older than the one before.
   */
  get isUsable(): boolean {
    if (this.state !== 'current') return false;
    return !this.isPrimaryAvailable || this.lag.includes(this.primaryReadAt);
  }

  /** To be called after a query that may use the replica has used the primary. */
  primaryWasRead(): void {
    this.primaryReadAt = performance.now();
  }

  /** To be called after rows of these writers were committed, so that readers who look for them find them. */
  wrote(writers: Iterable<string>): void {
    if (!this.servers) return;
    const time = performance.now();
    for (const writer of writers) {
      this.writes.delete(writer);
      this.writes.set(writer, time);
    }
    for (const [writer, written] of this.writes) {
      if (this.writes.size <= MAX_WRITERS && !this.lag.includes(written)) break;
      this.writes.delete(writer);
    }
  }

  /**
   * Returns whether the replica has all rows that the writer wrote through this process. If the replica is almost current, waits
   * until it has everything that is visible on the primary now, including what other processes wrote.
   */
  async isCurrentFor(writer: string): Promise<boolean> {
    return (await this.catchesUp()) || !this.lacksWritesOf(writer);
  }

  /** Returns by how many seconds the rows that a query returns to this writer now may be out of date. */
  secondsBehindFor(writer: string): number {
    return this.isUsable && !this.lacksWritesOf(writer) ? (this.lag.seconds ?? 0) : 0;
  }

  private lacksWritesOf(writer: string): boolean {
    const time = this.writes.get(writer);
    return time !== undefined && !this.lag.includes(time);
  }

  private async catchesUp(): Promise<boolean> {
    if (!this.isPrimaryAvailable || (this.lag.seconds ?? Infinity) >= CATCH_UP_SECONDS) return false;
    return this.waits.add(undefined);
  }

  private async catchUp(): Promise<boolean> {
    if (!this.servers) return false;
    const { primary, replica } = this.servers;
    const deadline = performance.now() + CATCH_UP_TIMEOUT;
    try {
      const { position } = await statusOf(primary);
      if (this.lag.hasReplayed(position)) return true;
      while ((await statusOf(replica)).position < position) {
        if (performance.now() > deadline) return false;
        await pause(CATCH_UP_INTERVAL);
      }
      return true;
    } catch {
      return false;
    }
  }

  /** @throws OperatorError if the server has another database; an unavailable replica does not keep the service from starting */
  async onApplicationBootstrap(): Promise<void> {
    const { driverAddress, readAddress } = this.configuration;
    if (!readAddress || !this.adapterHost.httpAdapter) return;
    this.state = 'behind';
    const servers = openServers(driverAddress, readAddress, 'replica-check');
    try {
      await this.check(servers, true);
    } catch (error) {
      await close(servers);
      throw error;
    }
    this.servers = openServers(driverAddress, readAddress, 'replica-wait');
    this.watching = this.watch(servers);
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopped.abort();
    await Promise.all([this.watching, this.servers && close(this.servers)]);
  }

  private async watch(servers: Servers): Promise<void> {
    const { signal } = this.stopped;
    while (!signal.aborted) {
      await pause(CHECK_INTERVAL, undefined, { signal, ref: false }).catch(() => undefined);
      if (!signal.aborted) await this.check(servers);
    }
    await close(servers);
  }

  private async check({ primary, replica }: Servers, isStart = false): Promise<void> {
    const time = performance.now();
    const written = await statusOf(primary).catch(() => undefined);
    // During a failover, the address of the primary may lead to a replica for a moment.
    this.isPrimaryAvailable = written?.isReplica === false;
    if (written && this.isPrimaryAvailable) this.lag.written(written.position, time);
    try {
      const replayed = await statusOf(replica);
      const problem = problemOf(written, replayed);
      if (isStart && problem === ANOTHER_DATABASE) throw new OperatorError(problem);
      if (problem !== undefined) return this.leave('unavailable', problem);
      this.lag.replayed(replayed.position);
    } catch (error) {
      if (error instanceof OperatorError) throw error;
      return this.leave('unavailable', (error as Error).message);
    }
    this.judgeLag();
  }

  private judgeLag(): void {
    const { maxReadLagSeconds: max } = this.configuration;
    const { seconds, minimumSeconds } = this.lag;
    // The lower limit to return keeps a replica from being used and not used in turns.
    const limit = this.state === 'current' ? max : max / 2;
    if (seconds !== undefined && seconds <= limit) return this.enter();
    if (minimumSeconds > max) {
      const behind = `It is ${Math.floor(minimumSeconds)} s behind (DATABASE_READ_MAX_LAG_SECONDS: ${max}).`;
      return this.leave('behind', behind);
    }
    this.state = 'behind';
  }

  private enter(): void {
    this.state = 'current';
    if (this.isReportedUnused) this.logger.log('The read replica is used again.');
    this.isReportedUnused = false;
  }

  private leave(state: State, reason: string): void {
    this.state = state;
    if (!this.isReportedUnused)
      this.logger.warn(`The read replica is not used, and its queries use the primary. ${reason}`);
    this.isReportedUnused = true;
  }
}

/**
 * Compares the replica with its primary. Changes nothing.
 *
 * @returns undefined without a replica, a problem, or how long the replica took to replay the newest change
 * @throws an error of the driver if one of the servers is unavailable
 */
export async function inspectReplica({
  driverAddress,
  readAddress,
  maxReadLagSeconds,
}: DatabaseConfiguration): Promise<{ problem: string } | { milliseconds: number } | undefined> {
  if (!readAddress) return undefined;
  const servers = openServers(driverAddress, readAddress, 'replica-check');
  const { primary, replica } = servers;
  try {
    const written = await statusOf(primary);
    const start = performance.now();
    for (;;) {
      const replayed = await statusOf(replica);
      const problem = problemOf(written, replayed);
      if (problem !== undefined) return { problem };
      const milliseconds = Math.round(performance.now() - start);
      if (replayed.position >= written.position) return { milliseconds };
      if (milliseconds > maxReadLagSeconds * SECOND)
        return { problem: `The replica is more than ${maxReadLagSeconds} s behind.` };
      await pause(INSPECTION_INTERVAL);
    }
  } finally {
    await close(servers);
  }
}
