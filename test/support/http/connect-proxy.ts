import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

/** An HTTP proxy for CONNECT that connects every host name to this machine. */
export interface ConnectProxy {
  /** As in `OUTBOUND_PROXY_URL`, without credentials. */
  readonly url: string;
  readonly port: number;
  /** The authority and the credentials of each CONNECT request. */
  readonly tunnels: readonly { readonly authority: string; readonly credentials: string | undefined }[];
  close(): Promise<void>;
}

/** @param reject returns the status, and headers, with which to reject a request, or undefined to accept the request */
export async function startConnectProxy(
  reject: (authority: string, credentials: string | undefined) => number | string | undefined = () =>
    undefined,
): Promise<ConnectProxy> {
  const tunnels: { authority: string; credentials: string | undefined }[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((_, response) => response.writeHead(405).end());
  server.on('connection', (socket) => sockets.add(socket));
  server.on('connect', (request: IncomingMessage, client: Socket, head: Buffer) => {
    const authority = request.url ?? '';
    const credentials = request.headers['proxy-authorization'];
    tunnels.push({ authority, credentials });
    const status = reject(authority, credentials);
    if (status !== undefined) {
      const [code, ...headers] = String(status).split('\n');
      client.end([`HTTP/1.1 ${code} No`, ...headers, 'Content-Length: 2', '', 'no'].join('\r\n'));
      return;
    }
    const receiver = connect(Number(authority.split(':').at(-1)), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      receiver.write(head);
      receiver.pipe(client);
      client.pipe(receiver);
    });
    sockets.add(receiver);
    receiver.on('error', () => client.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n'));
    client.on('error', () => receiver.destroy());
    client.on('close', () => receiver.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    tunnels,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
