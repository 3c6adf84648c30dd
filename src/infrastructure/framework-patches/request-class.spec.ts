import { once } from 'node:events';
import { createServer, IncomingMessage, type RequestListener, type ServerOptions } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { createRequestClass, skipRest } from './request-class.js';

const CHUNKS = 200;
const CHUNKED = `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\na\r\n'.repeat(CHUNKS)}0\r\n\r\n`;
const PIPELINED = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(50);

/** Sends bytes in one write to a server until its connection ends. */
async function send(bytes: string, options: ServerOptions, listener: RequestListener): Promise<void> {
  const server = createServer(options, listener);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
  socket.resume().write(bytes);
  await once(socket, 'close');
  server.close();
}

describe('createRequestClass', () => {
  /** Returns how many pieces a body of small chunks arrives in. */
  async function piecesWith(Request: typeof IncomingMessage): Promise<number> {
    let pieces = 0;
    let bytes = 0;
    await send(CHUNKED, { IncomingMessage: Request }, (request) => {
      request.on('data', (piece: Buffer) => {
        pieces += 1;
        bytes += piece.length;
      });
      request.on('end', () => request.socket.destroy());
    });
    expect(bytes).toBe(CHUNKS);
    return pieces;
  }

  it('gathers the small chunks of a body', async () => {
    expect(await piecesWith(createRequestClass())).toBeLessThan(20);
  });

  it('is needed as long as Node.js passes on each chunk alone', async () => {
    expect(await piecesWith(IncomingMessage)).toBe(CHUNKS);
  });
});

describe('skipRest', () => {
  /** Returns how many pipelined requests Node.js creates although the first one ends the connection. */
  async function requestsAfter(end: (socket: IncomingMessage['socket']) => void): Promise<number> {
    let requests = 0;
    await send(PIPELINED, {}, ({ socket }) => {
      requests += 1;
      if (requests === 1) end(socket);
    });
    return requests;
  }

  it('lets the parser skip what has arrived', async () => {
    expect(
      await requestsAfter((socket) => {
        skipRest(socket);
        socket.destroy();
      }),
    ).toBe(1);
  });

  it('is needed as long as Node.js parses the rest for a connection that was destroyed', async () => {
    expect(await requestsAfter((socket) => socket.destroy())).toBe(50);
  });
});
