import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** The address of a database between a service and its servers, as a load balancer or a failover manager provides one. */
export interface DatabaseAddress {
  /** The URL with the address in place of the server. */
  readonly url: string;
  /** Leads new connections to another server. Established connections go on. */
  moveTo(url: string): void;
  /** Stops forwarding on the established connections, in both directions, without closing them. New connections work. */
  silence(): void;
  /** Stops forwarding on all connections, also on new ones, as if the server were paused. @returns a function that resumes */
  pause(): () => void;
  /** Closes the established connections. */
  cut(): void;
  /** The number of connections that were opened. */
  readonly opened: number;
  close(): Promise<void>;
}

interface Pair {
  readonly sockets: readonly [Socket, Socket];
  isSilent: boolean;
}

export async function startDatabaseAddress(databaseUrl: string): Promise<DatabaseAddress> {
  let target = new URL(databaseUrl);
  let opened = 0;
  let isPaused = false;
  const pairs = new Set<Pair>();

  const hold = ({ sockets }: Pair): void => {
    for (const socket of sockets) socket.unpipe().pause();
  };
  const forward = ({ sockets: [client, server] }: Pair): void => {
    client.pipe(server);
    server.pipe(client);
  };
  const server = createServer((client) => {
    opened += 1;
    const upstream = connect(Number(target.port || 5432), target.hostname);
    const pair: Pair = { sockets: [client, upstream], isSilent: false };
    pairs.add(pair);
    for (const socket of pair.sockets) {
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        // On a silent connection, neither side learns that the other one is gone.
        if (pair.isSilent) return;
        pairs.delete(pair);
        for (const each of pair.sockets) each.destroy();
      });
    }
    if (!isPaused) forward(pair);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  const end = (): void => {
    for (const { sockets } of pairs) for (const socket of sockets) socket.destroy();
    pairs.clear();
  };
  return {
    url: Object.assign(new URL(databaseUrl), {
      hostname: '127.0.0.1',
      port: String((server.address() as AddressInfo).port),
    }).href,
    get opened() {
      return opened;
    },
    moveTo(url) {
      target = new URL(url);
    },
    silence() {
      for (const pair of pairs) {
        pair.isSilent = true;
        hold(pair);
      }
    },
    pause() {
      isPaused = true;
      for (const pair of pairs) hold(pair);
      return () => {
        isPaused = false;
        for (const pair of pairs) if (!pair.isSilent) forward(pair);
      };
    },
    cut: end,
    async close() {
      end();
      server.close();
      await once(server, 'close');
    },
  };
}
