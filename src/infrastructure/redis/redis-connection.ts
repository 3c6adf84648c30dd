import { setTimeout as pause } from 'node:timers/promises';
import { Cluster, Redis as Server, type RedisOptions } from 'ioredis';
import { SECOND } from '../time/index.js';
import type { RedisConfiguration } from './redis.configuration.js';

/** Milliseconds within which a connection must stand, with every server behind it. */
const OPENING_TIME = SECOND;
/** Milliseconds within which a command must be answered: some hundred times what it takes. */
const ANSWER_TIME = 250;
/** Milliseconds; more often than servers and what stands before them close idle connections. */
const HEARTBEAT_EVERY = 10 * SECOND;
const PROBE_KEY = 'merchant-connectivity:probe';

/** A script that Redis runs as one step. */
export interface RedisScript {
  readonly name: string;
  readonly lua: string;
  readonly numberOfKeys: number;
}

/**
 * A connection that is good for as long as everything is answered in time, and never mended: whoever wants
 * another opens another. So there is no telling what a library does with commands while it reconnects, which
 * servers of a cluster it still knows, and by what names it once found them.
 */
export class RedisConnection {
  /** Resolves with the reason when it is good no more. */
  readonly lost: Promise<Error>;
  private isOpen = true;
  private tellLost: (reason: Error) => void = () => undefined;
  private readonly commands = new Map<string, (...values: string[]) => Promise<unknown>>();
  private readonly heartbeat: NodeJS.Timeout;

  private constructor(private readonly client: Server | Cluster) {
    this.lost = new Promise((resolve) => (this.tellLost = resolve));
    client.on('error', (error: Error) => this.lose(error));
    client.on('close', () => this.lose(closed()));
    this.heartbeat = setInterval(() => void this.inTime(this.ping()).catch(() => undefined), HEARTBEAT_EVERY);
    this.heartbeat.unref();
  }

  /** @throws when not every server can be used */
  static async open(configuration: RedisConfiguration): Promise<RedisConnection> {
    const client = clientOf(configuration);
    const connection = new RedisConnection(client);
    let cause: Error | undefined;
    client.on('error', (error: Error) => (cause ??= error));
    client.on('node error', (error: Error) => (cause ??= error));
    const deadline = new AbortController();
    try {
      await Promise.race([
        connection.prove(),
        connection.lost.then((reason) => Promise.reject(reason)),
        pause(OPENING_TIME, undefined, { signal: deadline.signal }).then(() => {
          throw new Error(`no answer within ${OPENING_TIME} ms`);
        }),
      ]);
      // One that leaves a cluster, or is lost; which of the two, a new connection finds out.
      client.on('-node', () => connection.lose(new Error('a server of the cluster was lost')));
      return connection;
    } catch (error) {
      connection.close();
      throw cause ?? error;
    } finally {
      deadline.abort();
    }
  }

  get isUsable(): boolean {
    return this.isOpen;
  }

  /** @throws within `ANSWER_TIME`, and then the connection is lost for all */
  run(script: RedisScript, values: readonly string[]): Promise<unknown> {
    return this.inTime(this.commandOf(script)(...values));
  }

  close(): void {
    this.lose(new Error('it is no longer needed'));
  }

  /** A server that answers may still refuse to count: a replica, one without memory, one that is not ours. */
  private async prove(): Promise<void> {
    await this.client.connect();
    await this.ping();
    await this.client.set(PROBE_KEY, '1', 'PX', SECOND);
  }

  private async ping(): Promise<void> {
    const servers = this.client instanceof Cluster ? this.client.nodes('master') : [this.client];
    await Promise.all(servers.map((server) => server.ping()));
  }

  private async inTime<T>(answer: Promise<T>): Promise<T> {
    let isWaiting = true;
    const judge = (): void => {
      if (isWaiting) this.lose(new Error(`no answer within ${ANSWER_TIME} ms`));
    };
    // When this process was busy, the answer may lie there unread: `setImmediate` comes after it was looked for.
    const timer = setTimeout(() => setImmediate(judge), ANSWER_TIME);
    try {
      return await answer;
    } catch (error) {
      // What the client says of a connection that is going is of no use to anybody.
      this.lose((error as Error).name === 'ReplyError' ? (error as Error) : closed());
      throw error;
    } finally {
      isWaiting = false;
      clearTimeout(timer);
    }
  }

  /** Rejects everything that still waits for an answer. */
  private lose(reason: Error): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    clearInterval(this.heartbeat);
    this.client.disconnect();
    this.tellLost(reason);
  }

  private commandOf(script: RedisScript): (...values: string[]) => Promise<unknown> {
    let command = this.commands.get(script.name);
    if (!command) {
      // Sends the text once for each connection, its digest from then on.
      this.client.defineCommand(script.name, script);
      const client = this.client as unknown as Record<string, (...values: string[]) => Promise<unknown>>;
      command = (...values) => client[script.name]!(...values);
      this.commands.set(script.name, command);
    }
    return command;
  }
}

const closed = (): Error => new Error('the connection was closed');

function clientOf(configuration: RedisConfiguration): Server | Cluster {
  const { addresses, credentials, database, tls, isCluster } = configuration;
  const options: RedisOptions = {
    ...credentials,
    ...(tls === undefined ? {} : { tls }),
    db: database,
    connectionName: 'merchant-connectivity-service',
    connectTimeout: OPENING_TIME,
    // Commands that wait fail with the connection, not two seconds later.
    disconnectTimeout: 0,
    disableClientInfo: true,
    lazyConnect: true,
    retryStrategy: () => null,
  };
  if (!isCluster) return new Server({ ...options, ...addresses[0], enableOfflineQueue: false });
  return new Cluster([...addresses], {
    redisOptions: options,
    lazyConnect: true,
    enableOfflineQueue: false,
    clusterRetryStrategy: () => null,
    // By name, or no certificate would fit.
    dnsLookup: (address, found) => found(null, address),
    slotsRefreshTimeout: OPENING_TIME,
    // A command that is sent again later might be counted twice. Only what a server sent elsewhere goes there.
    maxRedirections: 3,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
  });
}
