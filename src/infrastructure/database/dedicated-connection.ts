import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { SECOND } from '../time/index.js';
import type { DatabaseConfiguration } from './database.configuration.js';

const RECONNECT_DELAY = SECOND;

export interface DedicatedConnectionOptions {
  /** Part of the `application_name`. */
  readonly name: string;
  /** Called after each connect, also after the connection was lost. */
  readonly onConnected: (client: pg.Client) => Promise<void>;
  readonly onLost?: (error: Error) => void;
}

/**
 * A connection outside of the pool, for state that belongs to a PostgreSQL session, such as LISTEN. It reconnects a
 * second after it was lost, until it is closed.
 */
export class DedicatedConnection {
  private readonly stopped = new AbortController();
  private readonly done: Promise<void>;
  private client: pg.Client | undefined;

  constructor(
    private readonly configuration: DatabaseConfiguration,
    private readonly options: DedicatedConnectionOptions,
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
    while (!signal.aborted) {
      this.client = this.newClient();
      try {
        await this.useUntilLost(this.client);
      } catch (error) {
        if (!signal.aborted) this.options.onLost?.(error as Error);
      }
      await this.client.end().catch(() => undefined);
      await pause(RECONNECT_DELAY, undefined, { signal }).catch(() => undefined);
    }
  }

  private newClient(): pg.Client {
    return new pg.Client({
      ...this.configuration.driverAddress,
      application_name: `merchant-connectivity-service ${this.options.name}`,
      connectionTimeoutMillis: this.configuration.connectTimeoutMilliseconds,
      keepAlive: true,
    });
  }

  private async useUntilLost(client: pg.Client): Promise<void> {
    const lost = new Promise<never>((_, reject) => {
      client.on('error', reject);
      client.once('end', () => reject(new Error('the connection ended')));
    });
    // It may reject before the await below.
    lost.catch(() => undefined);
    // The promise of connect() never settles if the client is ended meanwhile.
    await Promise.race([client.connect(), lost]);
    await this.options.onConnected(client);
    await lost;
  }
}
