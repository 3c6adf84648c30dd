import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { createServer } from 'node:tls';
import { RECEIVER_CERTIFICATES, RECEIVER_KEY } from '../webhooks/receiver-certificates.js';

/** Serves TLS in front of a plain server of this machine, with a certificate of the authority of the tests for 127.0.0.1. */
export class TlsFront implements AsyncDisposable {
  private constructor(
    readonly port: number,
    private readonly close: () => Promise<void>,
  ) {}

  static async start(plainPort: number): Promise<TlsFront> {
    const sockets = new Set<Socket>();
    const server = createServer({ key: RECEIVER_KEY, cert: RECEIVER_CERTIFICATES.trusted }, (socket) => {
      const plain = connect(plainPort, '127.0.0.1');
      for (const each of [socket, plain]) sockets.add(each);
      socket.on('error', () => plain.destroy()).on('close', () => plain.destroy());
      plain.on('error', () => socket.destroy()).on('close', () => socket.destroy());
      socket.pipe(plain).pipe(socket);
    });
    server.on('tlsClientError', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TlsFront((server.address() as AddressInfo).port, async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
