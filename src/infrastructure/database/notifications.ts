import { Injectable, Logger } from '@nestjs/common';
import { DatabaseConfiguration } from './database.configuration.js';
import { DedicatedConnection } from './dedicated-connection.js';

/** An ear on a channel. */
export interface Subscription {
  close(): Promise<void>;
}

/**
 * Hears what `NOTIFY` tells. What is told while the connection is lost is lost with it, so a notification is
 * a hint, and nobody may depend on it alone.
 */
@Injectable()
export class Notifications {
  private readonly logger = new Logger('Notifications');

  constructor(private readonly configuration: DatabaseConfiguration) {}

  /** @param hear called for every notification, and whenever some may have been missed */
  listen(channel: string, hear: () => void): Subscription {
    return new DedicatedConnection(this.configuration, {
      name: 'notifications',
      use: async (client) => {
        client.on('notification', hear);
        await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
        hear();
      },
      onLost: (error) => this.logger.warn(`The channel ${channel} was lost: ${error.message}`),
    });
  }
}
