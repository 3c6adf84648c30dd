import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { basic, useTestApp } from '../../support/test-app.js';

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';
const GIGABYTE = 1_073_741_824;
/** Bytes. The limit of a body, the buffers of both sockets, and some more. */
const MAX_SENT = 16 * 1_048_576;

const service = useTestApp();

const TARGETS: readonly (readonly [path: string, type: string])[] = [
  ['/apply', JSON_TYPE],
  ['/session/open', JSON_TYPE],
  ['/mcp/tokens/create', JSON_TYPE],
  ['/oauth/token', FORM_TYPE],
  ['/oauth/device/code', FORM_TYPE],
  ['/login', FORM_TYPE],
];

function open(path: string, type: string, ...headers: string[]): Socket {
  const { hostname, port } = new URL(service.baseUrl);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  const credentials = path === '/mcp/tokens/create' ? [`Authorization: ${basic(service.development)}`] : [];
  socket.write(
    [`POST ${path} HTTP/1.1`, 'Host: x', `Content-Type: ${type}`, ...credentials, ...headers, '', ''].join(
      '\r\n',
    ),
  );
  return socket;
}

/** Returns everything that the service sends until it closes the connection. */
async function receive(socket: Socket): Promise<string> {
  let received = '';
  socket.on('data', (chunk) => (received += String(chunk)));
  // Unlike `once`, does not reject when the service resets the connection.
  await new Promise((resolve) => socket.once('close', resolve));
  return received;
}

async function sentOrClosed(socket: Socket): Promise<void> {
  const settled = new AbortController();
  // Unlike `once` alone, does not reject when the service resets the connection.
  const events = ['drain', 'close'].map((event) => once(socket, event, settled).catch(() => undefined));
  await Promise.race(events);
  settled.abort();
}

/** Runs a test for all paths at the same time: the service closes a refused connection only after a second. */
const forEachTarget = (test: (path: string, type: string) => Promise<void>): Promise<unknown> =>
  Promise.all(TARGETS.map(([path, type]) => test(path, type)));
/** @param path for the message of a failure */
const expectRefused = (path: string, received: string): void =>
  expect([path, received]).toEqual([path, expect.stringMatching(/^HTTP\/1\.1 413 /)]);

describe('A body that is too large', () => {
  it('is refused by its Content-Length, before any of it arrives', () =>
    forEachTarget(async (path, type) =>
      expectRefused(path, await receive(open(path, type, `Content-Length: ${GIGABYTE}`))),
    ));

  it('is not asked for with 100 Continue', () =>
    forEachTarget(async (path, type) => {
      const socket = open(path, type, `Content-Length: ${GIGABYTE}`, 'Expect: 100-continue');
      expectRefused(path, await receive(socket));
    }));

  it.each([
    ['with a Content-Length', [`Content-Length: ${GIGABYTE}`], ''],
    ['in chunks', ['Transfer-Encoding: chunked'], '10000\r\n'],
  ])('is not received beyond the limit (%s)', (_how, headers, before) =>
    forEachTarget(async (path, type) => {
      const socket = open(path, type, ...headers);
      const received = receive(socket);
      const piece = `${before}${'x'.repeat(0x10000)}${before && '\r\n'}`;
      let sent = 0;
      while (!socket.closed && !socket.destroyed && sent < 4 * MAX_SENT) {
        sent += piece.length;
        if (!socket.write(piece)) await sentOrClosed(socket);
      }
      expectRefused(path, await received);
      expect(sent).toBeLessThan(MAX_SENT);
    }),
  );
});

describe('A long body that is refused before it is read', () => {
  it('is neither asked for nor received', async () => {
    const { hostname, port } = new URL(service.baseUrl);
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    socket.write(
      `POST /mcp/tokens/create HTTP/1.1\r\nHost: x\r\nContent-Type: ${JSON_TYPE}\r\n` +
        `Content-Length: ${GIGABYTE}\r\nExpect: 100-continue\r\n\r\n`,
    );
    expect(await receive(socket)).toMatch(/^HTTP\/1\.1 401 /);
  });
});
