import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { eventually } from '../../../test/support/eventually.js';
import { serializeRequests } from './connections.js';

const serialize = serializeRequests(() => undefined);
/** The connections of the requests, in the order in which they arrived. */
let arrived: Socket[] = [];
/** Never responds, so that all requests after the first one of a connection wait. */
const server = createServer((request, response) => {
  serialize(request, response as never);
  arrived.push(request.socket);
});

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  server.closeAllConnections();
  const connections = promisify(server.getConnections.bind(server));
  await eventually('all connections are closed', async () => (await connections()) === 0);
});
afterAll(() => void server.close());

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const POST = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}';

/** Sends requests at once on a connection. @returns whether the service closes it */
async function isClosed(request: string, count: number): Promise<boolean> {
  arrived = [];
  const { port } = server.address() as AddressInfo;
  connect(port, '127.0.0.1')
    .on('error', () => undefined)
    .write(request.repeat(count));
  await eventually('the requests have arrived', () => arrived.length === count);
  return arrived.every(({ destroyed }) => destroyed);
}

describe('serializeRequests', () => {
  it.each([
    [101, 'requests', GET],
    [13, 'requests with a body', POST],
  ])('lets a client pipeline %i %s, and no more', async (count, _what, request) => {
    expect(await isClosed(request, count)).toBe(false);
    expect(await isClosed(request, count + 1)).toBe(true);
  });

  it('lets fewer wait on a connection while many wait on all of them', async () => {
    for (let connections = 0; connections < 41; connections += 1) expect(await isClosed(GET, 11)).toBe(false);
    expect(await isClosed(GET, 11)).toBe(false);
    expect(await isClosed(GET, 12)).toBe(true);
  });
});
