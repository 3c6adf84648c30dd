import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { eventually } from '../../../test/support/eventually.js';
import { serializeRequests } from './connections.js';

const sockets: Socket[] = [];
/** Never responds, so that all requests after the first one of a connection wait. */
const server = createServer(serializeRequests(() => undefined));

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
const connections = promisify(server.getConnections.bind(server));

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await eventually('all connections are closed', async () => (await connections()) === 0);
});
afterAll(() => void server.close());

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const POST = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}';

/** Sends requests at once on a connection. @returns whether the service closes it instead of waiting for the first response */
async function isClosed(requests: string): Promise<boolean> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
  sockets.push(socket);
  const closed = once(socket, 'close').then(() => true);
  socket.write(requests);
  return Promise.race([closed, new Promise<boolean>((resolve) => setTimeout(resolve, 100, false))]);
}

describe('serializeRequests', () => {
  it.each([
    [101, 'requests', GET],
    [13, 'requests with a body', POST],
  ])('lets a client pipeline %i %s, and no more', async (count, _what, request) => {
    expect(await isClosed(request.repeat(count))).toBe(false);
    expect(await isClosed(request.repeat(count + 1))).toBe(true);
  });

  it('lets fewer wait on a connection while many wait on all of them', async () => {
    for (let connections = 0; connections < 41; connections += 1)
      expect(await isClosed(GET.repeat(11))).toBe(false);
    expect(await isClosed(GET.repeat(11))).toBe(false);
    expect(await isClosed(GET.repeat(12))).toBe(true);
  });
});
