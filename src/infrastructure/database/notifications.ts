import { Injectable, Logger } from '@nestjs/common';
import { DatabaseConfiguration } from './database.configuration.js';
import { DedicatedConnection } from './dedicated-connection.js';

/** Listens on a channel until it is closed. */
export interface Subscription {
  close(): Promise<void>;
}

/**
 * Receives notifications (`NOTIFY`). Those sent while the connection is lost never arrive, so a notification is only a
 * hint: do not rely on it alone.
 */
@Injectable()
export class Notifications {
  private readonly logger = new Logger('Notifications');

  constructor(private readonly configuration: DatabaseConfiguration) {}

  /** @param onNotification called for every notification, and whenever some may have been missed */
  listen(channel: string, onNotification: () => void): Subscription {
    return new DedicatedConnection(this.configuration, {
      name: 'notifications',
      onConnected: async (client) => {
        client.on('notification', onNotification);
        await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
        onNotification();
      },
      onLost: (error) => this.logger.warn(`The connection of channel ${channel} was lost: ${error.message}`),
    });
  }
}
