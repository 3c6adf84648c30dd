import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { SECOND } from '../time/index.js';
import type { DatabaseConfiguration } from './database.configuration.js';

const RECONNECT_AFTER = SECOND;

export interface DedicatedConnectionOptions {
  /** What PostgreSQL shows it as. */
  readonly name: string;
  /** What it is there for; called again whenever it was lost and stands again. */
  readonly use: (client: pg.Client) => Promise<void>;
  readonly onLost?: (error: Error) => void;
}

/**
 * A connection that stands until it is closed, for what PostgreSQL ties to a session: those of the pool come
 * and go. When it is lost, another takes its place after a second.
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
      await pause(RECONNECT_AFTER, undefined, { signal }).catch(() => undefined);
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
    // Nobody waits for it before the connection stands.
    lost.catch(() => undefined);
    // A client that is ended while it connects leaves its promise open for ever.
    await Promise.race([client.connect(), lost]);
    await this.options.use(client);
    await lost;
  }
}
