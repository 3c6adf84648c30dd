import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import { CachedValue } from '../caching/index.js';
import { OperatorError } from '../errors/index.js';
import { GaugeMetric, Metrics } from '../metrics/index.js';
import { SECOND } from '../time/index.js';
import { Client, POOLED_SESSION } from './client.js';
import type { DriverAddress } from './database-address.js';
import { DatabaseConfiguration } from './database.configuration.js';

const CHECK_TIMEOUT = 2 * SECOND;
/** How long a process relies on a check. */
const CHECK_INTERVAL = SECOND;

const NOT_A_REPLICA = 'The server of DATABASE_READ_URL is not a replica. Was it promoted?';
const ANOTHER_DATABASE =
  'DATABASE_READ_URL does not lead to a replica of the database of DATABASE_URL: the cluster or the database differs.';

const STATES = ['current', 'behind', 'unavailable', 'unconfigured'] as const;
type State = (typeof STATES)[number];
const STATE = new GaugeMetric({
  name: 'mcs_database_replica_state',
  help: '1 for the current state of the read replica, 0 for the others. Queries use the replica only while the state is `current`. It is `behind` if the lag exceeds the limit or is not known.',
  labels: ['state'],
});
const LAG = new GaugeMetric({
  name: 'mcs_database_replica_lag_seconds',
  help: 'How far the read replica is behind the primary: 0 if it has replayed all that it received, otherwise the age of the last change that it replayed. Absent if it is not known.',
});

interface ReplicaStatus {
  readonly state: State;
  readonly seconds?: number;
  /** Why queries do not use the replica. */
  readonly problem?: string;
}

interface ServerStatus {
  readonly isReplica: boolean;
  /** Null if the replica has not replayed any change since it started. */
  readonly seconds: number | null;
  /** Differs between all clusters, and between the databases of a cluster. */
  readonly identity: string;
}

/**
 * A replica that has replayed all that it received is current only while it is connected to its primary. The age of the last
 * change alone would grow while nobody writes.
 */
async function statusOf(server: pg.Pool): Promise<ServerStatus> {
  const { rows } = await server.query<ServerStatus>(
    `SELECT pg_is_in_recovery() AS "isReplica",
            CASE WHEN pg_last_wal_receive_lsn() <= pg_last_wal_replay_lsn()
                      AND EXISTS (SELECT FROM pg_stat_wal_receiver) THEN 0
                 ELSE extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::float8 END AS seconds,
            (SELECT system_identifier FROM pg_control_system()) || '/' ||
            (SELECT oid FROM pg_database WHERE datname = current_database()) AS identity`,
  );
  return rows[0] as ServerStatus;
}

/** Opens a connection that nothing else uses, so that no query delays the check. */
function openServer(address: DriverAddress): pg.Pool {
  const pool = new pg.Pool({
    ...address,
    Client,
    application_name: 'merchant-connectivity-service replica-check',
    max: 1,
    keepAlive: true,
    connectionTimeoutMillis: CHECK_TIMEOUT,
    query_timeout: CHECK_TIMEOUT,
    session: { ...POOLED_SESSION, statement_timeout: String(CHECK_TIMEOUT) },
  });
  // The next statement fails, too.
  pool.on('error', () => undefined);
  return pool;
}

async function check(replica: pg.Pool, maxSeconds: number): Promise<ReplicaStatus> {
  try {
    const { isReplica, seconds } = await statusOf(replica);
    if (!isReplica) return { state: 'unavailable', problem: NOT_A_REPLICA };
    if (seconds === null) return { state: 'behind', problem: 'It has not replayed any change yet.' };
    if (seconds <= maxSeconds) return { state: 'current', seconds };
    const problem = `It is ${Math.floor(seconds)} s behind (DATABASE_READ_MAX_LAG_SECONDS: ${maxSeconds}).`;
    return { state: 'behind', seconds, problem };
  } catch (error) {
    return { state: 'unavailable', problem: (error as Error).message };
  }
}

async function isSameDatabase(primary: DriverAddress, replica: pg.Pool): Promise<boolean> {
  const server = openServer(primary);
  try {
    const [written, replayed] = await Promise.all([statusOf(server), statusOf(replica)]);
    return written.identity === replayed.identity;
  } finally {
    await server.end();
  }
}

/** Decides whether queries may use the replica of `DATABASE_READ_URL`: while its lag is within the limit. */
@Injectable()
export class ReadReplica implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Database');
  private readonly replica: pg.Pool | undefined;
  private readonly status = new CachedValue({
    load: () => this.check(),
    freshFor: CHECK_INTERVAL,
    agePerLoadTime: 0,
    onFailure: () => undefined,
  });
  private isReportedUnused = false;

  constructor(
    private readonly configuration: DatabaseConfiguration,
    metrics: Metrics,
  ) {
    const { readAddress } = configuration;
    this.replica = readAddress && openServer(readAddress);
    metrics.gauge(STATE, async () => {
      const { state = 'unavailable' } = (await this.status.read()) ?? {};
      return STATES.map((each) => ({ labels: { state: each }, value: Number(each === state) }));
    });
    metrics.value(LAG, async () => (await this.status.read())?.seconds);
  }

  async isUsable(): Promise<boolean> {
    return (await this.status.read())?.state === 'current';
  }

  /** @throws OperatorError if the server has another database; an unavailable replica does not keep the service from starting */
  async onApplicationBootstrap(): Promise<void> {
    if (!this.replica) return;
    const isSame = await isSameDatabase(this.configuration.driverAddress, this.replica).catch(
      () => undefined,
    );
    if (isSame === false) throw new OperatorError(ANOTHER_DATABASE);
    await this.status.read();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.replica?.end();
  }

  private async check(): Promise<ReplicaStatus> {
    if (!this.replica) return { state: 'unconfigured' };
    const status = await check(this.replica, this.configuration.maxReadLagSeconds);
    const isUnused = status.problem !== undefined;
    if (isUnused && !this.isReportedUnused)
      this.logger.warn(`The read replica is not used, and its queries use the primary. ${status.problem}`);
    if (!isUnused && this.isReportedUnused) this.logger.log('The read replica is used again.');
    this.isReportedUnused = isUnused;
    return status;
  }
}

/**
 * Compares the replica with its primary. Changes nothing.
 *
 * @returns undefined without a replica, a problem, or how far the replica is behind
 * @throws an error of the driver if one of the servers is unavailable
 */
export async function inspectReplica({
  driverAddress,
  readAddress,
  maxReadLagSeconds,
}: DatabaseConfiguration): Promise<{ problem: string } | { seconds: number } | undefined> {
  if (!readAddress) return undefined;
  const replica = openServer(readAddress);
  try {
    if (!(await isSameDatabase(driverAddress, replica))) return { problem: ANOTHER_DATABASE };
    const { problem, seconds = 0 } = await check(replica, maxReadLagSeconds);
    return problem === undefined ? { seconds } : { problem };
  } finally {
    await replica.end();
  }
}
