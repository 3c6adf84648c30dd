import type { Connection } from './connection.js';

/** Over all receivers, of which there may be thousands. */
const MAX_IDLE = 256;

/** Connections that wait to be used again, the one that was used last at the end. */
export class IdleConnections {
  private connections: Connection[] = [];
  private isClosed = false;

  take(origin: string): Connection | undefined {
    const connection = this.connections.findLast((each) => each.origin === origin);
    if (connection === undefined) return undefined;
    this.remove(connection);
    if (connection.isReusable) return connection;
    connection.destroy();
    return this.take(origin);
  }

  keep(connection: Connection): void {
    if (this.isClosed || !connection.isReusable) {
      connection.destroy();
      return;
    }
    this.connections.push(connection);
    if (this.connections.length > MAX_IDLE) this.connections.shift()?.destroy();
  }

  remove(connection: Connection): void {
    this.connections = this.connections.filter((each) => each !== connection);
  }

  close(): void {
    this.isClosed = true;
    for (const connection of this.connections.splice(0)) connection.destroy();
  }
}
