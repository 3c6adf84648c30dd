import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../../support/eventually.js';
import { basic, startTestApp, useTestApp } from '../../support/test-app.js';

/** Milliseconds, as documented in docs/operations-start.md. */
const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  timeout: 60_000,
};
/** The same limits, but shorter. */
const SHORT_LIMITS = {
  headersTimeout: 1_000,
  requestTimeout: 2_000,
  keepAliveTimeout: 2_000,
  timeout: 4_000,
};
const TIMEOUT = 60_000;

const service = useTestApp({ MCP_TOKEN_REQUESTS_PER_MINUTE: '1000000' });
let server: Server;

beforeAll(async () => {
  server = service.app.getHttpServer() as Server;
});

function open(): Socket {
  const { hostname, port } = new URL(service.baseUrl);
  return connect(Number(port), hostname).on('error', () => undefined);
}

interface Ending {
  readonly status: number | undefined;
  readonly milliseconds: number;
}

/** Sends the start at once and the drip byte by byte. @returns how the connection ended */
async function sendSlowly(start: string, drip = ''): Promise<Ending> {
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
    // With the shorter limits, the service could close an idle connection in the moment in which a request reuses it.
    headers: { connection: 'close' },
  });
  expect(status).toBe(200);
}

describe('Slow connections', () => {
  it('are limited to 10 s for headers, 30 s for a request, 60 s without traffic and 65 s between requests', () => {
    expect(server).toMatchObject({ ...LIMITS, connectionsCheckingInterval: 1_000 });
  });

  describe('with shorter limits', () => {
    beforeAll(() => void Object.assign(server, SHORT_LIMITS));

    it.each<[string, number | undefined, number, () => Promise<Ending>]>([
      ['that send nothing', 408, SHORT_LIMITS.headersTimeout, () => sendSlowly('')],
      [
        'that send their headers byte by byte',
        408,
        SHORT_LIMITS.headersTimeout,
        () => sendSlowly('GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ', 'x'.repeat(1_000)),
      ],
      [
        'that send their body byte by byte',
        408,
        SHORT_LIMITS.requestTimeout,
        () => sendSlowly(bodyOf(1_000), '{"external_user_id":"slow'.padEnd(1_000)),
      ],
      [
        'that send chunks byte by byte',
        408,
        SHORT_LIMITS.requestTimeout,
        () =>
          sendSlowly(
            head('Content-Type: application/json', 'Transfer-Encoding: chunked'),
            '1\r\n \r\n'.repeat(200),
          ),
      ],
      [
        'that announce a body and do not send it',
        408,
        SHORT_LIMITS.requestTimeout,
        () => sendSlowly(bodyOf(10)),
      ],
      [
        'that stay open after their response',
        200,
        SHORT_LIMITS.keepAliveTimeout,
        () => sendSlowly('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'),
      ],
    ])(
      'do not block other clients: 100 connections %s',
      async (_what, status, limit, send) => {
        const sent = Array.from({ length: 100 }, () => send());
        const served = pause(limit / 4).then(() => expectServed());
        expect(await Promise.race([served.then(() => 'served'), Promise.all(sent)])).toBe('served');
        const ended = await Promise.all(sent);
        expect(new Set(ended.map((each) => each.status))).toEqual(new Set([status]));
        expect(Math.min(...ended.map(({ milliseconds }) => milliseconds))).toBeGreaterThan(limit * 0.9);
      },
      TIMEOUT,
    );

    it(
      'do not block other clients: 20 connections that never read their responses',
      async () => {
        await eventually('no other connection is open', async () => (await connections()) <= 1);
        const requests = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(30);
        let accepted = 0;
        const count = (): void => void (accepted += 1);
        server.on('connection', count);
        const sockets = Array.from({ length: 20 }, () => {
          const socket = open().pause();
          socket.write(requests);
          return socket;
        });
        // Counted by event: on a busy machine, the first may be closed before the last is accepted.
        await eventually('they are connected', () => accepted >= 20);
        server.off('connection', count);
        await expectServed();
        expect(await connections()).toBeGreaterThan(1);
        await eventually('they are closed', async () => (await connections()) <= 1, SHORT_LIMITS.timeout * 4);
        for (const socket of sockets) socket.destroy();
      },
      TIMEOUT,
    );
  });
});

describe('Connections that send too much', () => {
  it('are rejected if the headers exceed 16 KiB, with few or many headers', async () => {
    const one = `GET /healthz HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(17_000)}`;
    const many = `GET /healthz HTTP/1.1\r\nHost: x\r\n${'a:b\r\n'.repeat(10_000)}`;
    for (const bytes of [one, many]) {
      expect((await sendSlowly(bytes)).status).toBe(431);
    }
    await expectServed();
  });

  const CALL = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n';

  it('get responses in order for 100 pipelined requests while other clients are served', async () => {
    const socket = open();
    let responses = 0;
    let rest = '';
    socket.on('data', (chunk) => {
      const parts = (rest + String(chunk)).split('HTTP/1.1 200 OK');
      responses += parts.length - 1;
      // A chunk can end within a status line.
      rest = parts.at(-1)?.slice(-14) ?? '';
    });
    socket.write(CALL.repeat(101));
    await expectServed();
    expect(responses).toBeLessThan(101);
    await eventually('all responses have arrived', () => responses === 101);
    socket.destroy();
  });

  it('are closed if they pipeline more requests', async () => {
    await Promise.all(Array.from({ length: 20 }, () => sendSlowly(CALL.repeat(10_000))));
    await expectServed();
  });
});

it('KEEP_ALIVE_SECONDS keeps idle connections open for load balancers that keep them longer', async () => {
  const patient = await startTestApp({ KEEP_ALIVE_SECONDS: '620' });
  try {
    const socket = connect(Number(new URL(patient.baseUrl).port), '127.0.0.1');
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    const [response] = (await once(socket, 'data')) as [Buffer];
    expect(response.toString()).toMatch(/^Keep-Alive: timeout=620\r$/m);
    socket.destroy();
  } finally {
    await patient.close();
  }
});

describe('A stranger who announces a large body', () => {
  it('makes the service reserve memory only for what arrives', async () => {
    const count = 100;
    const before = process.memoryUsage().arrayBuffers;
    const sockets = Array.from({ length: count }, open);
    const unread = new Map(sockets.map((socket): [Socket, string] => [socket, '']));
    for (const socket of sockets) {
      socket.on('data', (chunk) => unread.set(socket, String(chunk)));
      socket.write(
        [
          'POST /sso/saml/00000000-0000-4000-8000-000000000001 HTTP/1.1',
          'Host: x',
          'Content-Type: application/x-www-form-urlencoded',
          'Content-Length: 390000',
          'Expect: 100-continue',
          '',
          '',
        ].join('\r\n'),
      );
    }
    await eventually('all bodies are read', () =>
      [...unread.values()].every((text) => text.includes(' 100 ')),
    );
    for (const piece of ['SAMLResponse=', 'PD94', 'bWw']) {
      for (const socket of sockets) socket.write(piece);
      await pause(200);
    }
    const growth = process.memoryUsage().arrayBuffers - before;
    for (const socket of sockets) socket.destroy();
    expect(growth / count).toBeLessThan(64 * 1024);
  });
});
