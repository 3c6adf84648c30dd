import { setTimeout as pause } from 'node:timers/promises';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { SECOND } from '../time/index.js';
import type { RedisConfiguration } from './redis.configuration.js';

/** Error replies that ioredis handles by itself. */
const HANDLED_BY_IOREDIS = /^(?:NOSCRIPT|MOVED|ASK|TRYAGAIN) /;

/** Milliseconds. */
const CHECK_TIMEOUT = 3 * SECOND;

export type RedisClient = Redis | Cluster;

/**
 * Creates a client that fails early: a command is either sent once, on a connection that is ready, or rejected. Sending
 * it again could count a request twice.
 *
 * @param onErrorReply receives error replies, except those that ioredis handles
 */
export function createRedisClient(
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
    return new Redis({ ...options, ...addresses[0], enableOfflineQueue: false, retryStrategy: retryDelay });
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
