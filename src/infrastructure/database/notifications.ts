import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import pg from 'pg';
import { SECOND } from '../time/index.js';
import { DatabaseConfiguration } from './database.configuration.js';

const RECONNECT_AFTER = SECOND;

/** An ear on a channel. */
export interface Listening {
  close(): Promise<void>;
}

/**
 * Hears what `NOTIFY` tells, on a connection of its own: those of the pool come and go. What is told while
 * the connection is lost is lost with it, so a notification is a hint, and nobody may depend on it alone.
 */
@Injectable()
export class Notifications {
  private readonly logger = new Logger('Notifications');

  constructor(private readonly configuration: DatabaseConfiguration) {}

  /** @param hear called for every notification, and whenever some may have been missed */
  listen(channel: string, hear: () => void): Listening {
    let client: pg.Client | undefined;
    const stopped = new AbortController();
    const run = async (): Promise<void> => {
      while (!stopped.signal.aborted) {
        client = this.client();
        try {
          await this.hearUntilLost(client, channel, hear);
        } catch (error) {
          if (!stopped.signal.aborted)
            this.logger.warn(`The channel ${channel} was lost: ${(error as Error).message}`);
        }
        await client.end().catch(() => undefined);
        await pause(RECONNECT_AFTER, undefined, { signal: stopped.signal }).catch(() => undefined);
      }
    };
    const done = run();
    return {
      close: async () => {
        stopped.abort();
        await client?.end().catch(() => undefined);
        await done;
      },
    };
  }

  private client(): pg.Client {
    return new pg.Client({
      connectionString: this.configuration.url,
      application_name: 'merchant-connectivity-service notifications',
      connectionTimeoutMillis: this.configuration.connectTimeoutMilliseconds,
      keepAlive: true,
    });
  }

  private async hearUntilLost(client: pg.Client, channel: string, hear: () => void): Promise<void> {
    const lost = new Promise<never>((_, reject) => {
      client.once('error', reject);
      client.once('end', () => reject(new Error('the connection ended')));
    });
    // Nobody waits for it before the connection stands.
    lost.catch(() => undefined);
    // A client that is ended while it connects leaves its promise open for ever.
    await Promise.race([client.connect(), lost]);
    client.on('notification', hear);
    await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
    hear();
    await lost;
  }
}
