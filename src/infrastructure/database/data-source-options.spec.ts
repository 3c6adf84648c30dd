import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from './data-source-options.js';
import { isDatabaseUnavailable } from './sql-state.js';

/** Encodes a message of PostgreSQL's protocol (version 3): type, length including itself, content. */
function message(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(5, type);
  head.writeInt32BE(content.length + 4, 1);
  return Buffer.concat([head, content]);
}

const READY = [message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))];
const SHUTDOWN = message('E', Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0'));

describe('A connection that the server closes right after it is established', () => {
  let server: Server;

  beforeAll(async () => {
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(Buffer.concat([...READY, SHUTDOWN])));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => server.close());

  it('fails the statement, but not the process', async () => {
    const { port } = server.address() as AddressInfo;
    const connections = new DataSource(
      dataSourceOptions({ url: `postgres://user@127.0.0.1:${port}/service` }),
    );
    const failure: unknown = await connections.initialize().catch((error: unknown) => error);
    expect([failure, isDatabaseUnavailable(failure)]).toEqual([expect.any(Error), true]);
  });
});
