import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Cluster, Redis as SingleServer, type RedisOptions } from 'ioredis';
import { GaugeMetric, Metrics } from '../metrics/index.js';
import { SECOND } from '../time/index.js';
import { RedisConfiguration } from './redis.configuration.js';

/** Error replies that ioredis handles by itself. */
const HANDLED_BY_IOREDIS = /^(?:NOSCRIPT|MOVED|ASK|TRYAGAIN) /;

/** Milliseconds. */
const CHECK_TIMEOUT = 3 * SECOND;

type RedisClient = SingleServer | Cluster;

/**
 * Creates a client that fails early: a command is either sent once, on a connection that is ready, or rejected. Sending
 * it again could count a request twice.
 *
 * @param onErrorReply receives error replies, except those that ioredis handles
 */
function createRedisClient(
  configuration: RedisConfiguration,
  onErrorReply: (error: Error) => void,
): RedisClient {
  const { addresses, credentials, database, tls, isCluster } = configuration;
  const options: RedisOptions = {
    ...credentials,
    ...(tls === undefined ? {} : { tls }),
    db: database,
    connectionName: 'merchant-connectivity-service',
    connectTimeout: SECOND,
    keepAlive: 10 * SECOND,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    // Commands in flight fail together with the connection.
    disconnectTimeout: 0,
    disableClientInfo: true,
    lazyConnect: true,
    reconnectOnError: (error) => {
      if (!HANDLED_BY_IOREDIS.test(error.message)) onErrorReply(error);
      return false;
    },
  };
  if (!isCluster) {
    return new SingleServer({
      ...options,
      ...addresses[0],
      enableOfflineQueue: false,
      retryStrategy: retryDelay,
    });
  }
  return new Cluster([...addresses], {
    redisOptions: options,
    lazyConnect: true,
    enableOfflineQueue: false,
    clusterRetryStrategy: retryDelay,
    // Keeps host names instead of resolving them, because certificates are issued for host names.
    dnsLookup: (address, found) => found(null, address),
    slotsRefreshTimeout: SECOND,
    maxRedirections: 3,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
  });
}

/** Milliseconds before an attempt to connect, with jitter, so that many processes don't reconnect at once. */
function retryDelay(attempt: number): number {
  return Math.min(500 * attempt, 4 * SECOND) + Math.random() * SECOND;
}

/** Connects once and writes a value. @returns the problem, if there is one */
export async function checkRedis(configuration: RedisConfiguration): Promise<string | undefined> {
  let problem: Error | undefined;
  const client = createRedisClient(configuration, (error) => (problem ??= error));
  client.on('error', (error: Error) => (problem ??= error));
  try {
    const write = client.connect().then(() => client.set('merchant-connectivity:probe', '1', 'PX', SECOND));
    const isDone = await Promise.race([write.then(() => true), pause(CHECK_TIMEOUT, false, { ref: false })]);
    return isDone ? undefined : (problem?.message ?? `no reply within ${CHECK_TIMEOUT} ms`);
  } catch (error) {
    return (problem ?? (error as Error)).message;
  } finally {
    client.disconnect();
  }
}

/** Milliseconds within which Redis must reply: several hundred times its usual response time. */
const REPLY_TIMEOUT = 250;
/** Milliseconds within which a new connection must be ready for commands. */
const CONNECT_TIMEOUT = SECOND;
const PROBE_KEY = 'merchant-connectivity:probe';

const STATES = ['connected', 'lost', 'unconfigured'] as const;
const STATE = new GaugeMetric({
  name: 'mcs_redis_state',
  help: '1 for the current state of the connection to Redis, 0 for the others. Rate limits are enforced across processes only while the state is `connected`. A worker enforces none and is always `unconfigured`.',
  labels: ['state'],
});

/**
 * The connection to Redis, which holds the counters that processes share. Without `REDIS_URL`, there is none. Only
 * processes that serve HTTP connect.
 */
@Injectable()
export class Redis implements OnApplicationBootstrap, OnApplicationShutdown {
  /** Undefined without `REDIS_URL`. Use it only while `isConnected`, pass its replies to `inTime`, and expect commands to fail. */
  readonly client: RedisClient | undefined;
  private readonly logger = new Logger('Redis');
  private isVerified = false;
  private isReportedUnavailable = false;
  private isReconnecting = false;
  private isStopped = false;
  /** The first error since Redis was available. */
  private cause: Error | undefined;

  constructor(
    private readonly configuration: RedisConfiguration,
    private readonly adapterHost: HttpAdapterHost,
    metrics: Metrics,
  ) {
    if (configuration.urls)
      this.client = createRedisClient(configuration, (error) => this.onErrorReply(error));
    metrics.gauge(STATE, () =>
      STATES.map((state) => ({ labels: { state }, value: Number(state === this.state) })),
    );
  }

  get isConnected(): boolean {
    return this.isVerified;
  }

  private get state(): (typeof STATES)[number] {
    if (!this.client || !this.adapterHost.httpAdapter) return 'unconfigured';
    return this.isConnected ? 'connected' : 'lost';
  }

  /** Waits for the first attempt to connect, at most one second, so that the first requests find a connection. */
  async onApplicationBootstrap(): Promise<void> {
    const { client } = this;
    if (!client || !this.adapterHost.httpAdapter) return;
    const firstAttempt = new Promise<void>((resolve) => {
      client.on('ready', () => void this.verify(client).then(resolve));
      client.on('close', () => {
        this.isReconnecting = false;
        this.setUnavailable();
        resolve();
      });
    });
    client.on('node error', (error: Error) => this.remember(error));
    client.on('error', (error: Error) => this.reconnect(error));
    // Treats the loss of one node as the loss of the cluster. The next connection shows whether the node failed or left.
    client.on('-node', () => {
      if (this.isVerified) this.reconnect(new Error('a node of the cluster was lost'));
    });
    client.on('connect', () => {
      const reconnectIfNotReady = (): void => {
        if (client.status === 'connect') this.reconnect(new Error(`not ready within ${CONNECT_TIMEOUT} ms`));
      };
      setTimeout(reconnectIfNotReady, CONNECT_TIMEOUT).unref();
    });
    client.connect().catch((error: Error) => this.remember(error));
    await Promise.race([firstAttempt, pause(CONNECT_TIMEOUT, undefined, { ref: false })]);
  }

  /** Runs after the HTTP server was closed. */
  onApplicationShutdown(): void {
    this.isStopped = true;
    this.client?.disconnect();
  }

  /**
   * Waits for a reply. If the reply is late, closes the connection, so pending commands fail and later ones don't wait.
   * ioredis's `commandTimeout` and `socketTimeout` also fire when only this process was busy. `setImmediate` lets the
   * event loop read a reply that has already arrived before the timeout is reported.
   */
  async inTime<T>(reply: Promise<T>): Promise<T> {
    let isPending = true;
    const reconnectIfPending = (): void => {
      if (isPending) this.reconnect(new Error(`no reply within ${REPLY_TIMEOUT} ms`));
    };
    const timer = setTimeout(() => setImmediate(reconnectIfPending), REPLY_TIMEOUT);
    try {
      return await reply;
    } finally {
      isPending = false;
      clearTimeout(timer);
    }
  }

  /**
   * Checks that every server replies and that a write succeeds. A server that accepts connections may still reject
   * writes: a read-only replica, a server that is out of memory, or a cluster node addressed directly.
   */
  private async verify(client: RedisClient): Promise<void> {
    const servers = client instanceof Cluster ? client.nodes('master') : [client];
    try {
      await this.inTime(Promise.all(servers.map((server) => server.ping())));
      await this.inTime(client.set(PROBE_KEY, '1', 'PX', SECOND));
      this.setAvailable();
    } catch (error) {
      this.reconnect(error as Error);
    }
  }

  /**
   * Closes a verified connection, so that the next one is verified first. Until a connection is verified, `verify` and
   * ioredis handle its errors.
   */
  private onErrorReply(error: Error): void {
    if (this.isVerified) this.reconnect(error);
    else this.remember(error);
  }

  private reconnect(reason: Error): void {
    this.remember(reason);
    this.isVerified = false;
    const { client } = this;
    if (this.isReconnecting || (client?.status !== 'ready' && client?.status !== 'connect')) return;
    this.isReconnecting = true;
    client.disconnect(true);
  }

  private remember(error: Error): void {
    this.cause ??= error;
  }

  private setAvailable(): void {
    this.isVerified = true;
    this.cause = undefined;
    if (this.isReportedUnavailable) {
      this.logger.log(
        `Redis at ${this.addresses} is available again: rate limits are counted across processes`,
      );
    }
    this.isReportedUnavailable = false;
  }

  private setUnavailable(): void {
    this.isVerified = false;
    if (this.isReportedUnavailable || this.isStopped) return;
    this.isReportedUnavailable = true;
    this.logger.warn(
      `Redis at ${this.addresses} is unavailable (${reasonOf(this.cause)}): each process counts rate limits in memory until Redis is available again`,
    );
  }

  private get addresses(): string {
    return this.configuration.addresses.map(({ host, port }) => `${host}:${port}`).join(', ');
  }
}

function reasonOf(cause: (Error & { readonly code?: string }) | undefined): string {
  if (!cause) return 'the connection was closed';
  if (cause.message.startsWith('MOVED ')) {
    return 'it is a Redis Cluster: set REDIS_URL to several of its addresses, separated by commas';
  }
  return cause.code ?? cause.message;
}
