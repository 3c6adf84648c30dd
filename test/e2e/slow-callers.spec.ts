import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../support/eventually.js';
import { basic, startTestApp, type TestApp } from '../support/test-app.js';

/** Milliseconds; docs/security.md names these. */
const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  timeout: 60_000,
};
/** The same manners, but sooner. */
const SHORTER = { headersTimeout: 1_000, requestTimeout: 2_000, keepAliveTimeout: 5_000, timeout: 4_000 };
/** How often is looked for slow callers, and a little for the machine, which may be busy. */
const LATENESS = 1_000 + 1_500;
const TIMEOUT = 60_000;

let service: TestApp;
let server: Server;

beforeAll(async () => {
  service = await startTestApp({ MCP_TOKEN_REQUESTS_PER_MINUTE: '1000000' });
  server = service.app.getHttpServer() as Server;
});
afterAll(() => service.close());

function open(): Socket {
  const { hostname, port } = new URL(service.baseUrl);
  return connect(Number(port), hostname).on('error', () => undefined);
}

interface Visit {
  readonly status: number | undefined;
  readonly milliseconds: number;
}

/** How a connection ends on which this is sent, and then this, byte by byte. */
async function visit(start: string, drip = ''): Promise<Visit> {
  const socket = open();
  const began = performance.now();
  let received = '';
  let isClosed = false;
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      isClosed = true;
      resolve();
    });
  });
  socket.on('data', (chunk) => (received += String(chunk)));
  socket.write(start);
  for (const byte of drip) {
    await pause(50);
    if (isClosed) break;
    socket.write(byte);
  }
  await closed;
  const [, status] = /^HTTP\/1\.1 (\d+)/.exec(received) ?? [];
  return {
    status: status === undefined ? undefined : Number(status),
    milliseconds: performance.now() - began,
  };
}

const head = (...headers: string[]): string =>
  [
    'POST /mcp/tokens/create HTTP/1.1',
    'Host: x',
    `Authorization: ${basic(service.development)}`,
    ...headers,
    '',
    '',
  ].join('\r\n');
const bodyOf = (length: number): string =>
  head('Content-Type: application/json', `Content-Length: ${length}`);

const connections = (): Promise<number> =>
  new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );

async function expectServed(): Promise<void> {
  const { status } = await service.request('/mcp/tokens/create', {
    body: { external_user_id: 'somebody else' },
    as: service.development,
  });
  expect(status).toBe(200);
}

describe('Connections that take their time', () => {
  it('end within 10 s for the headers, 30 s for the request, 60 s without taking anything, 65 s between two', () => {
    expect(server).toMatchObject({ ...LIMITS, connectionsCheckingInterval: 1_000 });
  });

  describe('with shorter limits', () => {
    beforeAll(() => void Object.assign(server, SHORTER));

    it.each<[string, number | undefined, number, () => Promise<Visit>]>([
      ['that say nothing', 408, SHORTER.headersTimeout, () => visit('')],
      [
        'that send their headers byte by byte',
        408,
        SHORTER.headersTimeout,
        () => visit('GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ', 'x'.repeat(1_000)),
      ],
      [
        'that send their body byte by byte',
        408,
        SHORTER.requestTimeout,
        () => visit(bodyOf(1_000), '{"external_user_id":"slow'.padEnd(1_000)),
      ],
      [
        'that send chunks byte by byte',
        408,
        SHORTER.requestTimeout,
        () =>
          visit(
            head('Content-Type: application/json', 'Transfer-Encoding: chunked'),
            '1\r\n \r\n'.repeat(200),
          ),
      ],
      ['that promise a body', 408, SHORTER.requestTimeout, () => visit(bodyOf(10))],
      [
        'of strangers who promise a body, although they were answered',
        401,
        SHORTER.requestTimeout,
        () =>
          visit(
            'POST /mcp/tokens/create HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n',
            'x'.repeat(1_000),
          ),
      ],
      [
        'that stay after their answer',
        200,
        SHORTER.keepAliveTimeout,
        () => visit('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'),
      ],
    ])(
      'and others are served meanwhile: 100 %s',
      async (_what, status, limit, send) => {
        let areAllThere = true;
        const visits = Promise.all(
          Array.from({ length: 100 }, () => send().finally(() => (areAllThere = false))),
        );
        await pause(limit / 2);
        await expectServed();
        expect(areAllThere).toBe(true);
        const ended = await visits;
        expect(new Set(ended.map((each) => each.status))).toEqual(new Set([status]));
        expect(Math.max(...ended.map(({ milliseconds }) => milliseconds))).toBeLessThan(limit + LATENESS);
        expect(Math.min(...ended.map(({ milliseconds }) => milliseconds))).toBeGreaterThan(limit * 0.9);
      },
      TIMEOUT,
    );

    it(
      'and others are served meanwhile: 20 that never read the answers they ask for',
      async () => {
        await eventually('nobody else is there', async () => (await connections()) <= 1);
        const asked = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(50);
        const sockets = Array.from({ length: 20 }, () => {
          const socket = open().pause();
          socket.write(asked);
          return socket;
        });
        await eventually('they are there', async () => (await connections()) >= 20);
        await expectServed();
        expect(await connections()).toBeGreaterThanOrEqual(20);
        await eventually('they are sent away', async () => (await connections()) <= 1, SHORTER.timeout * 4);
        for (const socket of sockets) socket.destroy();
      },
      TIMEOUT,
    );
  });
});

describe('Connections that send too much', () => {
  it('are refused for headers beyond 16 KiB, be they large or many', async () => {
    const one = `GET /healthz HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(17_000)}`;
    const many = `GET /healthz HTTP/1.1\r\nHost: x\r\n${'a:b\r\n'.repeat(10_000)}`;
    for (const bytes of [one, many]) {
      const { status, milliseconds } = await visit(bytes);
      expect(status).toBe(431);
      expect(milliseconds).toBeLessThan(LATENESS);
    }
    await expectServed();
  });

  const CALL = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n';

  it('are answered one call after the other, while others are served, for 100 calls ahead', async () => {
    const socket = open();
    let answers = 0;
    socket.on('data', (chunk) => (answers += String(chunk).split('HTTP/1.1 200 OK').length - 1));
    socket.write(CALL.repeat(101));
    await expectServed();
    expect(answers).toBeLessThan(101);
    await eventually('all are answered', () => answers === 101);
    socket.destroy();
  });

  it('are closed when they send more calls ahead', async () => {
    const began = performance.now();
    await Promise.all(Array.from({ length: 20 }, () => visit(CALL.repeat(10_000))));
    await expectServed();
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});
