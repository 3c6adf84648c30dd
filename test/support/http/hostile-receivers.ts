import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type SecureVersion, type TLSSocket } from 'node:tls';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { RECEIVER_CERTIFICATES, RECEIVER_KEY } from '../webhooks/receiver-certificates.js';

/** A request that arrived at a receiver. */
export interface ReceivedRequest {
  /** The request line and the headers, unparsed. */
  readonly head: string;
  readonly body: string;
  /** The remote address. */
  readonly from: string;
}

/** A webhook receiver on this machine. */
export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly ReceivedRequest[];
  /** Numbers of connections. */
  readonly connections: { readonly total: number; readonly open: number; readonly maxOpen: number };
  close(): Promise<void>;
}

export type ReceiverCertificate = keyof typeof RECEIVER_CERTIFICATES;

export interface ReceiverOptions {
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Certificate for TLS; without one, the receiver speaks plain HTTP. */
  readonly certificate?: ReceiverCertificate;
  /** Default: the latest version. */
  readonly maxVersion?: SecureVersion;
  /** Scheme of the receiver's URL, if it differs from the one that the receiver speaks. */
  readonly scheme?: 'https';
  /** Called when a connection is accepted. The receiver then does not read requests. */
  readonly onConnection?: (socket: Socket) => void;
  /** Called for each complete request. */
  readonly respond?: (socket: Socket, request: ReceivedRequest) => void;
}

export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  const connections = { total: 0, open: 0, maxOpen: 0 };
  const sockets = new Set<Socket>();
  const accept = (socket: Socket): void => {
    socket.on('error', () => undefined);
    if (options.onConnection !== undefined) {
      options.onConnection(socket);
      // Without reading, Node.js would not notice the end of the connection.
      socket.resume();
      return;
    }
    let received = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const headEnd = received.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const head = received.toString('latin1', 0, headEnd);
      const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
      if (received.length < headEnd + 4 + length) return;
      const body = received.toString('utf8', headEnd + 4, headEnd + 4 + length);
      received = received.subarray(headEnd + 4 + length);
      const request = { head, body, from: socket.remoteAddress ?? '' };
      requests.push(request);
      options.respond?.(socket, request);
    });
  };
  const { certificate, maxVersion } = options;
  const server: Server =
    certificate === undefined
      ? createServer(accept)
      : createTlsServer(
          { key: RECEIVER_KEY, cert: RECEIVER_CERTIFICATES[certificate], ...(maxVersion && { maxVersion }) },
          accept,
        );
  server.on('connection', (socket: Socket) => {
    connections.total += 1;
    connections.open += 1;
    connections.maxOpen = Math.max(connections.maxOpen, connections.open);
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => {
      connections.open -= 1;
      sockets.delete(socket);
    });
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, options.host ?? '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const scheme = options.scheme ?? (certificate === undefined ? 'http' : 'https');
  return {
    url: `${scheme}://localhost:${port}/hook`,
    port,
    requests,
    connections,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
/** Milliseconds between two pieces of a slow response. */
const DRIP = 100;

/** Writes the piece until the connection closes, as fast as possible or at an interval in milliseconds. */
function repeat(socket: Socket, piece: string | Buffer, milliseconds?: number): void {
  const write = (): void => {
    if (socket.destroyed) return;
    if (milliseconds !== undefined) {
      socket.write(piece);
      setTimeout(write, milliseconds);
    } else if (socket.write(piece)) setImmediate(write);
    else socket.once('drain', write);
  };
  write();
}

/** Writes the text byte by byte, each in a packet or a TLS record of its own. */
function scatter(socket: Socket, text: string): void {
  socket.setNoDelay();
  void (async () => {
    for (const byte of text) {
      if (socket.destroyed) return;
      socket.write(byte);
      await nextTurn();
    }
  })();
}

export function respondWith(status: string, ...headers: readonly string[]): ReceiverOptions {
  const lines = [
    `HTTP/1.1 ${status}`,
    ...headers,
    ...(status.startsWith('204') ? [] : ['Content-Length: 0']),
  ];
  return { respond: (socket) => socket.write(`${lines.join('\r\n')}\r\n\r\n`) };
}

const BOMB = gzipSync(Buffer.alloc(10 * 1024 * 1024));
const FLOOD = Buffer.alloc(64 * 1024, 'x');

/** Receivers that misbehave. Start one with `startReceiver(HOSTILE_RECEIVERS.neverResponds)`. */
export const HOSTILE_RECEIVERS = {
  neverResponds: { respond: () => undefined },
  slowHeaders: {
    respond: (socket) => {
      socket.write(`${OK}X-Slow: `);
      repeat(socket, 'a', DRIP);
    },
  },
  endlessHeaders: {
    respond: (socket) => {
      socket.write(OK);
      repeat(socket, `X-More: ${'a'.repeat(1000)}\r\n`);
    },
  },
  endlessInformation: {
    respond: (socket) => repeat(socket, 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n', DRIP),
  },
  drippingBody: {
    respond: (socket) => {
      socket.write(CHUNKED);
      repeat(socket, '1\r\na\r\n', DRIP);
    },
  },
  endlessBody: {
    respond: (socket) => {
      socket.write(`${OK}Content-Length: 1000000000000\r\n\r\n`);
      repeat(socket, FLOOD);
    },
  },
  gzipBomb: {
    respond: (socket) => {
      socket.write(`${OK}Content-Encoding: gzip\r\nContent-Length: ${BOMB.length}\r\n\r\n`);
      socket.write(BOMB);
    },
  },
  resetMidBody: {
    respond: (socket) =>
      socket.write(`${OK}Content-Length: 1000\r\n\r\nbut a part`, () => socket.resetAndDestroy()),
  },
  resetBeforeHeaders: { respond: (socket) => socket.resetAndDestroy() },
  closedBeforeHeaders: { respond: (socket) => socket.end() },
  resetAtOnce: { onConnection: (socket) => socket.resetAndDestroy() },
  notHttp: { respond: (socket) => socket.write('SSH-2.0-OpenSSH_9.6\r\n') },
  tlsStall: { scheme: 'https', onConnection: () => undefined },
  notTls: { scheme: 'https', onConnection: (socket) => socket.write('220 mail.example.com ESMTP\r\n') },
  selfSigned: { certificate: 'selfSigned', ...respondWith('200 OK') },
  expired: { certificate: 'expired', ...respondWith('200 OK') },
  wrongHost: { certificate: 'wrongHost', ...respondWith('200 OK') },
  redirect: respondWith('307 Temporary Redirect', 'Location: /followed'),
  redirectToMetadata: respondWith('302 Found', 'Location: http://169.254.169.254/latest/meta-data/'),
  created: respondWith('201 Created'),
  noContent: respondWith('204 No Content'),
  gone: respondWith('410 Gone'),
  tooMany: respondWith('429 Too Many Requests', 'Retry-After: 120'),
  /** Announces keep-alive, then closes the connection. */
  closesKeptConnections: {
    respond: (socket) =>
      socket.write(`${OK}Connection: keep-alive\r\nContent-Length: 0\r\n\r\n`, () => socket.end()),
  },
} as const satisfies Record<string, ReceiverOptions>;

/** Receivers whose responses would cost much if they were not limited. */
export const FLOODS = {
  interimFlood: {
    respond: (socket) => repeat(socket, 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(100)),
  },
  scatteredInterim: {
    respond: (socket) => scatter(socket, `HTTP/1.1 103 Early Hints\r\nLink: ${'a'.repeat(10_000)}`),
  },
  scatteredHeaders: {
    respond: (socket) => scatter(socket, `${OK}X-Many: ${'a'.repeat(10_000)}`),
  },
  scatteredRecords: {
    certificate: 'trusted',
    respond: (socket) => scatter(socket, `${OK}X-Many: ${'a'.repeat(10_000)}`),
  },
  endlessHandshakes: {
    certificate: 'trusted',
    maxVersion: 'TLSv1.2',
    respond: (socket) => {
      const handshake = (): void =>
        void (
          socket.destroyed ||
          (socket as TLSSocket).renegotiate({ rejectUnauthorized: false }, () => setImmediate(handshake))
        );
      handshake();
    },
  },
  scatteredChunks: {
    respond: (socket) => {
      socket.write(CHUNKED);
      socket.write('1\r\na\r\n'.repeat(10_000));
    },
  },
  endlessChunkExtension: {
    respond: (socket) => {
      socket.write(`${CHUNKED}1;`);
      repeat(socket, FLOOD);
    },
  },
  endlessReason: {
    respond: (socket) => {
      socket.write('HTTP/1.1 200 ');
      repeat(socket, FLOOD);
    },
  },
} as const satisfies Record<string, ReceiverOptions>;

export type HostileReceiver = keyof typeof HOSTILE_RECEIVERS;

/** The thread blocks as soon as the port listens, so it never accepts a connection. */
const LISTEN_WITHOUT_ACCEPTING = `
  const { parentPort } = require('node:worker_threads');
  const server = require('node:net').createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
`;
const MORE_THAN_BACKLOG = 8;

/** Starts a receiver that accepts no connections: its thread is blocked and its backlog is full. */
export async function fullReceiver(): Promise<{ readonly port: number; close(): Promise<void> }> {
  const thread = new Worker(LISTEN_WITHOUT_ACCEPTING, { eval: true });
  const [port] = (await once(thread, 'message')) as [number];
  const waiting = Array.from({ length: MORE_THAN_BACKLOG }, () =>
    connect(port, '127.0.0.1').on('error', () => undefined),
  );
  await Promise.race(waiting.map((socket) => once(socket, 'connect')));
  return {
    port,
    close: async () => {
      for (const socket of waiting) socket.destroy();
      await thread.terminate();
    },
  };
}

/** `state` holds the number of requests, and whether to close the connections: 1 is requested, 2 is done. */
const THREADED_RECEIVER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const state = new Int32Array(workerData);
  const sockets = new Set();
  const server = require('node:net').createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', () => {
      Atomics.add(state, 0, 1);
      socket.write('HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n');
    });
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
  setInterval(() => {
    if (Atomics.load(state, 1) !== 1) return;
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    setTimeout(() => { Atomics.store(state, 1, 2); Atomics.notify(state, 1); }, 20);
  }, 1);
`;

/** Starts a receiver in a separate thread, which can close its connections while the calling thread is blocked. */
export async function startThreadedReceiver(): Promise<{
  readonly port: number;
  requests(): number;
  closeConnections(): void;
  close(): Promise<void>;
}> {
  const state = new Int32Array(new SharedArrayBuffer(8));
  const thread = new Worker(THREADED_RECEIVER, { eval: true, workerData: state.buffer });
  const [port] = (await once(thread, 'message')) as [number];
  return {
    port,
    requests: () => Atomics.load(state, 0),
    closeConnections: () => {
      Atomics.store(state, 1, 1);
      Atomics.wait(state, 1, 1, 5_000);
    },
    close: async () => void (await thread.terminate()),
  };
}
