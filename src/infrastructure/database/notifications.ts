import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Client, IDLE_SESSION } from './client.js';
import { DatabaseConfiguration } from './database.configuration.js';

/** Milliseconds, however often it fails: a worker that stays away for a second counts as ended, and its deliveries are repeated. */
const RECONNECT_DELAY = 250;
const logger = new Logger('Notifications');

/**
 * The key of an advisory lock that a process holds while it is connected. PostgreSQL releases it as soon as the process ends,
 * whatever the cause, so that others notice.
 */
export type Presence = readonly [kind: number, process: number];

/** Returns a query for the processes that are connected, by the second part of their `Presence`. */
export function presentProcesses(kind: number): string {
  return `SELECT objid::bigint FROM pg_locks
           WHERE locktype = 'advisory' AND classid = ${kind} AND objsubid = 2 AND granted
             AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
}

/**
 * Listens on a channel until it is closed. LISTEN belongs to a PostgreSQL session, so the subscription uses a
 * connection of its own instead of the pool. It reconnects soon after losing the connection.
 */
export class Subscription {
  private readonly stopped = new AbortController();
  private readonly done: Promise<void>;
  private client: Client | undefined;
  /** When the connection was last lost, in milliseconds of a monotonic clock. */
  lostAt = -Infinity;
  /** Whether others see the presence, as far as this process knows. */
  isPresent = false;

  constructor(
    private readonly configuration: DatabaseConfiguration,
    private readonly channel: string,
    private readonly onNotification: (payload?: string) => void,
    private readonly presence?: Presence,
  ) {
    this.done = this.run();
  }

  async close(): Promise<void> {
    this.stopped.abort();
    await this.client?.end().catch(() => undefined);
    await this.done;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopped;
    for (let isReported = false; !signal.aborted;) {
      this.client = this.newClient();
      try {
        await this.listenUntilLost(this.client, () => (isReported = false));
      } catch (error) {
        // Once in an outage.
        if (!signal.aborted && !isReported)
          logger.warn(`The connection of channel ${this.channel} was lost: ${(error as Error).message}`);
        isReported = true;
      }
      this.lostAt = performance.now();
      this.isPresent = false;
      await this.client.end().catch(() => undefined);
      await pause(RECONNECT_DELAY, undefined, { signal }).catch(() => undefined);
    }
  }

  private newClient(): Client {
    return new Client({
      ...this.configuration.driverAddress,
      application_name: 'merchant-connectivity-service notifications',
      connectionTimeoutMillis: this.configuration.connectTimeoutMilliseconds,
      keepAlive: true,
      session: {
        ...IDLE_SESSION,
        statement_timeout: String(this.configuration.statementTimeoutMilliseconds),
      },
    });
  }

  private async listenUntilLost(client: Client, onConnected: () => void): Promise<void> {
    const lost = new Promise<never>((_, reject) => {
      client.on('error', reject);
      client.once('end', () => reject(new Error('the connection ended')));
    });
    // `lost` may reject before it is awaited below. Without a handler, that would end the process.
    lost.catch(() => undefined);
    // The promise of connect() never settles if the client is ended meanwhile.
    await Promise.race([client.connect(), lost]);
    client.on('notification', ({ payload }) => this.onNotification(payload));
    // Shared, so that it does not wait for a connection that this process has lost and the server has not noticed yet.
    if (this.presence) await client.query('SELECT pg_advisory_lock_shared($1, $2)', [...this.presence]);
    await client.query(`LISTEN ${client.escapeIdentifier(this.channel)}`);
    this.isPresent = this.presence !== undefined;
    onConnected();
    // Some notifications may have been missed before LISTEN.
    this.onNotification();
    await lost;
  }
}

/**
 * Receives notifications (`NOTIFY`). Those sent while the connection is lost never arrive, so a notification is only a
 * hint: do not rely on it alone.
 */
@Injectable()
export class Notifications {
  constructor(private readonly configuration: DatabaseConfiguration) {}

  /**
   * @param onNotification called for every notification, and without a payload whenever some may have been missed
   * @param presence shown to other processes while the connection exists
   */
  listen(channel: string, onNotification: (payload?: string) => void, presence?: Presence): Subscription {
    return new Subscription(this.configuration, channel, onNotification, presence);
  }
}
