import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { TRANSPORT_FAILURES, type OutgoingResult } from '../../../src/infrastructure/http-client/index.js';
import { eventually } from '../../support/eventually.js';
import {
  FLOODS,
  respondWith,
  fullReceiver,
  HOSTILE_RECEIVERS,
  startReceiver,
  startThreadedReceiver,
  type HostileReceiver,
  type Receiver,
  type ReceiverOptions,
} from '../../support/http/hostile-receivers.js';
import { httpClient, shortenDeadline } from '../../support/http/http-clients.js';
import { freePort } from '../../support/programs/ports.js';

const BODY = Buffer.from('{"event":"AUTHENTICATED"}');
const HEADERS = { 'content-type': 'application/json', 'webhook-id': 'event-1' };
const client = httpClient({ WEBHOOK_TARGETS: 'any' });
const opened: { close(): Promise<void> }[] = [client];

async function receiver(options: ReceiverOptions): Promise<Receiver> {
  const started = await startReceiver(options);
  opened.push(started);
  return started;
}

const post = (url: string, connections?: number): Promise<OutgoingResult> =>
  client.post({ url, headers: HEADERS, body: BODY, ...(connections && { connections }) });
/** Also asks for the text of the response. */
const read = (url: string): Promise<OutgoingResult> =>
  client.post({ url, headers: HEADERS, body: BODY, wantsText: () => true });

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
const interim = (status: string): string => `HTTP/1.1 ${status}\r\nX-Interim: 1\r\n\r\n`;

afterAll(() => Promise.all(opened.map((each) => each.close())));

type Expected = Partial<OutgoingResult>;
const NOTHING: Expected = { statusCode: 0, retryAfterSeconds: null };
const RESPONSE: Expected = { failure: null, explanation: null, retryAfterSeconds: null };
const RESET: Expected = {
  ...NOTHING,
  failure: 'RESET',
  explanation: 'The connection was closed before a response arrived.',
};
const NOT_HTTP: Expected = {
  ...NOTHING,
  failure: 'NOT_HTTP',
  explanation: 'The response is not valid HTTP.',
};
const HEADERS_TOO_LARGE: Expected = {
  ...NOTHING,
  failure: 'HEADERS_TOO_LARGE',
  explanation: 'The headers of the response are longer than 16 KiB.',
};
const TOO_MUCH: Expected = {
  ...NOTHING,
  failure: 'HEADERS_TOO_LARGE',
  explanation: 'Too much data, or data in too many small pieces, arrived before the response was complete.',
};
const TIMED_OUT: Expected = {
  ...NOTHING,
  failure: 'TIMEOUT',
  explanation: 'No response arrived within 10 seconds.',
};
const TLS: Expected = { ...NOTHING, failure: 'TLS' };

const EXPECTED: Readonly<Record<HostileReceiver, Expected>> = {
  neverResponds: TIMED_OUT,
  slowHeaders: TIMED_OUT,
  endlessHeaders: HEADERS_TOO_LARGE,
  endlessInformation: TIMED_OUT,
  drippingBody: { ...RESPONSE, statusCode: 200 },
  endlessBody: { ...RESPONSE, statusCode: 200 },
  gzipBomb: { ...RESPONSE, statusCode: 200 },
  resetMidBody: { ...RESPONSE, statusCode: 200 },
  resetBeforeHeaders: RESET,
  closedBeforeHeaders: RESET,
  resetAtOnce: RESET,
  notHttp: NOT_HTTP,
  tlsStall: {
    ...NOTHING,
    failure: 'TIMEOUT',
    explanation: 'The TLS handshake did not finish within 10 seconds.',
  },
  notTls: { ...TLS, explanation: 'A secure connection could not be established.' },
  selfSigned: { ...TLS, explanation: 'The certificate is self-signed.' },
  expired: { ...TLS, explanation: 'The certificate has expired.' },
  wrongHost: { ...TLS, explanation: 'The certificate is for another host name.' },
  redirect: { ...RESPONSE, statusCode: 307 },
  redirectToMetadata: { ...RESPONSE, statusCode: 302 },
  created: { ...RESPONSE, statusCode: 201 },
  noContent: { ...RESPONSE, statusCode: 204 },
  gone: { ...RESPONSE, statusCode: 410 },
  tooMany: { ...RESPONSE, statusCode: 429, retryAfterSeconds: 120 },
  closesKeptConnections: { ...RESPONSE, statusCode: 200 },
};

const KINDS = Object.keys(HOSTILE_RECEIVERS) as HostileReceiver[];
const ENDLESS: readonly HostileReceiver[] = ['slowHeaders', 'endlessInformation', 'drippingBody'];
describe('Hostile receivers, concurrently', () => {
  const receivers = new Map<HostileReceiver, Receiver>();
  const results = new Map<HostileReceiver, { result: OutgoingResult; milliseconds: number }>();
  const texts = new Map<HostileReceiver, { result: OutgoingResult; milliseconds: number }>();
  let memoryGrowth: number;
  let fromFull: OutgoingResult;

  beforeAll(async () => {
    for (const kind of KINDS) receivers.set(kind, await receiver(HOSTILE_RECEIVERS[kind]));
    const full = await fullReceiver();
    const before = process.memoryUsage().rss;
    let highest = before;
    const sampling = setInterval(() => (highest = Math.max(highest, process.memoryUsage().rss)), 50);
    const connecting = post(`http://127.0.0.1:${full.port}/`);
    await Promise.all(
      KINDS.flatMap((kind) =>
        (
          [
            [results, post],
            [texts, read],
          ] as const
        ).map(async ([map, send]) => {
          const start = performance.now();
          const result = await send(receivers.get(kind)?.url ?? '');
          map.set(kind, { result, milliseconds: performance.now() - start });
        }),
      ),
    );
    fromFull = await connecting;
    await full.close();
    clearInterval(sampling);
    memoryGrowth = (highest - before) / 1024 / 1024;
  }, 15_000);

  it.each(KINDS)('%s', (kind) => {
    for (const map of [results, texts]) {
      const { result, milliseconds } = map.get(kind) ?? {};
      expect(result).toMatchObject(EXPECTED[kind]);
      expect([null, ...TRANSPORT_FAILURES]).toContain(result?.failure);
      expect(result?.phases.total).toBeLessThanOrEqual(Math.ceil(milliseconds ?? 0));
    }
  });

  it('send texts of which only the beginning is read', () => {
    const textOf = (kind: HostileReceiver) => texts.get(kind)?.result.text;
    expect(textOf('endlessBody')).toEqual({
      text: 'x'.repeat(16 * 1024),
      isComplete: false,
      isTooLong: true,
    });
    expect(textOf('drippingBody')).toMatchObject({
      text: expect.stringMatching(/^a{5,100}$/),
      isComplete: false,
    });
    expect(textOf('resetMidBody')).toEqual({ text: 'but a part', isComplete: false });
    expect(textOf('gone')).toEqual({ text: '', isComplete: true });
    expect(textOf('gzipBomb')).toBeNull();
    expect(textOf('neverResponds')).toBeNull();
    for (const { result } of results.values()) expect(result.text).toBeNull();
  });

  it('stops reading long bodies and closes their connections', async () => {
    for (const kind of ['endlessBody', 'gzipBomb', 'drippingBody', 'neverResponds'] as const) {
      await eventually(`${kind} is left alone`, () => receivers.get(kind)?.connections.open === 0);
    }
    expect(memoryGrowth).toBeLessThan(150);
  });

  it('waits for a slow body until the deadline and reports the status', () => {
    for (const kind of ENDLESS) expect(results.get(kind)?.milliseconds).toBeGreaterThan(9900);
  });

  it('waits ten seconds for a connection and for the TLS handshake', () => {
    expect(fromFull).toMatchObject({
      ...NOTHING,
      failure: 'TIMEOUT',
      explanation: 'No connection could be established within 10 seconds.',
    });
    expect(fromFull.phases.connect).toBeGreaterThan(9000);
  });

  it('does not follow redirects', () => {
    expect(receivers.get('redirect')?.requests).toHaveLength(2);
    expect(receivers.get('redirectToMetadata')?.requests).toHaveLength(2);
  });

  it('reports the duration of each phase', () => {
    expect(results.get('neverResponds')?.result.phases).toMatchObject({ tls: null });
    expect(results.get('neverResponds')?.result.phases.firstByte).toBeGreaterThan(9000);
    expect(results.get('tlsStall')?.result.phases).toMatchObject({ firstByte: null });
    expect(results.get('tlsStall')?.result.phases.tls).toBeGreaterThan(9000);
    for (const { result } of results.values()) {
      for (const value of Object.values(result.phases)) {
        expect(value === null || Number.isInteger(value)).toBe(true);
      }
    }
  });
});

describe('A response that would cost too much', () => {
  it.each<[keyof typeof FLOODS, Expected]>([
    ['interimFlood', TOO_MUCH],
    ['scatteredInterim', TOO_MUCH],
    ['scatteredHeaders', TOO_MUCH],
    ['scatteredRecords', TOO_MUCH],
    ['endlessReason', TOO_MUCH],
    ['endlessHandshakes', TOO_MUCH],
    ['scatteredChunks', { ...RESPONSE, statusCode: 200 }],
    ['endlessChunkExtension', { ...RESPONSE, statusCode: 200 }],
  ])('ends before the deadline, and with it the connection: %s', async (kind, expected) => {
    const target = await receiver(FLOODS[kind]);
    const result = await post(target.url);
    expect(result).toMatchObject(expected);
    expect(result.phases.total).toBeLessThan(9000);
    await eventually('the connection is closed', () => target.connections.open === 0);
  });

  it.each([[interim('103 Early Hints')], [interim('100 Continue')]])(
    'is limited on a reused connection: %j',
    async (piece) => {
      const target = await receiver({
        respond: (socket, { body }) => socket.write((body === 'flood' ? piece.repeat(1_000) : piece) + OK),
      });
      expect(await post(target.url)).toMatchObject({ ...RESPONSE, statusCode: 200 });
      const flood = { url: target.url, headers: HEADERS, body: Buffer.from('flood') };
      expect(await client.post(flood)).toMatchObject(TOO_MUCH);
      expect(target.connections.total).toBe(1);
      expect(await post(target.url)).toMatchObject({ ...RESPONSE, statusCode: 200 });
    },
  );
});

describe('A request', () => {
  it('arrives unchanged', async () => {
    const target = await receiver({ certificate: 'trusted', ...respondWith('200 OK') });
    const result = await post(`${target.url}?a=1&b=%20#fragment`);
    expect(result).toMatchObject({ ...RESPONSE, statusCode: 200 });
    expect(target.requests).toHaveLength(1);
    const [{ head, body } = { head: '', body: '' }] = target.requests;
    expect(head.split('\r\n')[0]).toBe('POST /hook?a=1&b=%20 HTTP/1.1');
    expect(head).toContain('webhook-id: event-1');
    expect(head).toContain(`content-length: ${BODY.length}`);
    expect(head).toContain(`host: localhost:${target.port}`);
    expect(body).toBe(BODY.toString());
  });

  it('fails with REFUSED if nothing listens on the port', async () => {
    expect(await post(`http://127.0.0.1:${await freePort()}/`)).toMatchObject({
      ...NOTHING,
      failure: 'REFUSED',
      explanation: 'The connection was refused.',
    });
  });

  it('reaches a host whose first address is dead', async () => {
    const target = await receiver(respondWith('200 OK'));
    // localhost is ::1 first on many machines, where this receiver does not listen.
    expect(await post(target.url)).toMatchObject({ statusCode: 200 });
  });

  it.each([
    'http://',
    'nonsense',
    'ftp://localhost/',
    'http://user:password@localhost/',
    'http://localhost:0/',
    'http://local host/',
  ])('never rejects: %s', async (url) => {
    expect(await post(url)).toMatchObject({ statusCode: 0, failure: 'FORBIDDEN_ADDRESS' });
  });

  it('never rejects, even if its headers cannot be sent', async () => {
    const target = await receiver(respondWith('200 OK'));
    Logger.overrideLogger(false);
    const result = await client.post({ url: target.url, headers: { 'x-bad': 'a\r\nb: c' }, body: BODY });
    expect(result).toMatchObject({ statusCode: 0, failure: 'RESET' });
    expect(target.requests).toHaveLength(0);
  });

  it('has a deadline that includes the wait for a connection', async () => {
    const hurried = httpClient({ WEBHOOK_TARGETS: 'any' });
    opened.push(hurried);
    const target = await receiver(HOSTILE_RECEIVERS.neverResponds);
    const request = { url: target.url, headers: HEADERS, body: BODY, connections: 1 };
    shortenDeadline(hurried, 2_000);
    let isFirstDone = false;
    const first = hurried.post(request).finally(() => (isFirstDone = true));
    shortenDeadline(hurried, 300);
    for (const result of await Promise.all([hurried.post(request), hurried.post(request)])) {
      expect(result).toMatchObject({ failure: 'TIMEOUT' });
      expect(result.phases).toMatchObject({ connect: null, firstByte: null });
    }
    expect(isFirstDone).toBe(false);
    await first;
    await hurried.close();
    expect(target.requests).toHaveLength(1);
  });
});

describe('Connections', () => {
  it('are reused, and a reused connection has no connection phases', async () => {
    const target = await receiver({ certificate: 'trusted', ...respondWith('200 OK') });
    const first = await post(target.url);
    const second = await post(target.url);
    expect(first.phases.connect).not.toBeNull();
    expect(first.phases.tls).not.toBeNull();
    expect(second.phases).toMatchObject({ dns: null, connect: null, tls: null });
    expect(target.connections.total).toBe(1);
  });

  it('are reused after a text was read', async () => {
    const target = await receiver({
      respond: (socket) => socket.write('HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops'),
    });
    for (let count = 0; count < 3; count += 1)
      expect((await read(target.url)).text).toEqual({ text: 'oops', isComplete: true });
    expect(target.connections.total).toBe(1);
  });

  it('are limited to four per origin, or to the requested number', async () => {
    const target = await receiver({
      respond: (socket) => setTimeout(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'), 20),
    });
    const postTimes40 = async (connections?: number): Promise<void> => {
      const results = await Promise.all(Array.from({ length: 40 }, () => post(target.url, connections)));
      expect(results.every(({ statusCode }) => statusCode === 200)).toBe(true);
    };
    await postTimes40();
    expect(target.connections.maxOpen).toBe(4);
    // The four connections stay open for other requests of the first kind.
    await postTimes40(10);
    expect(target.connections.maxOpen).toBe(14);
  });

  it('that the receiver closes while they are idle do not fail requests', async () => {
    const target = await receiver(HOSTILE_RECEIVERS.closesKeptConnections);
    for (let count = 1; count <= 50; count += 1) {
      expect(await post(target.url)).toMatchObject({ ...RESPONSE, statusCode: 200 });
    }
  });

  it('that the receiver closes while they are idle do not fail requests over TLS', async () => {
    const target = await receiver({ certificate: 'trusted', ...HOSTILE_RECEIVERS.closesKeptConnections });
    for (let count = 1; count <= 20; count += 1) {
      expect(await post(target.url)).toMatchObject({ ...RESPONSE, statusCode: 200 });
    }
    expect(target.requests).toHaveLength(20);
  });

  // The client's thread waits while the receiver closes, so the client cannot notice before it sends the request.
  it('that the receiver closes while a request is on its way do not fail the request', async () => {
    const { port, requests, closeConnections, close } = await startThreadedReceiver();
    opened.push({ close });
    const url = `http://127.0.0.1:${port}/`;
    expect(await post(url)).toMatchObject({ statusCode: 200 });
    const { cork } = Socket.prototype;
    Socket.prototype.cork = function (this: Socket) {
      Socket.prototype.cork = cork;
      closeConnections();
      this.cork();
    };
    expect(await post(url)).toMatchObject({ ...RESPONSE, statusCode: 200 });
    expect(requests()).toBe(2);
  });

  it.each([
    ['resets', {}, (socket: Socket) => socket.resetAndDestroy()],
    ['closes', {}, (socket: Socket) => socket.end()],
    ['closes over TLS', { certificate: 'trusted' }, (socket: Socket) => socket.end()],
    ['destroys', {}, (socket: Socket) => socket.destroy()],
    ['closes after 1.2 s', {}, (socket: Socket) => setTimeout(() => socket.end(), 1_200)],
  ] as const)(
    'that the receiver %s after it read a second request fail the request, which is sent once',
    async (_, options, close) => {
      const known = new WeakSet<object>();
      const target = await receiver({
        ...options,
        respond: (socket) => {
          if (known.has(socket)) close(socket);
          else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
          known.add(socket);
        },
      });
      expect(await post(target.url)).toMatchObject({ statusCode: 200 });
      expect(await post(target.url)).toMatchObject(RESET);
      expect(target.requests).toHaveLength(2);
    },
  );

  it('are closed after the idle time that the receiver announces', async () => {
    const target = await receiver(respondWith('200 OK', 'Connection: keep-alive', 'Keep-Alive: timeout=2'));
    await post(target.url);
    await eventually('the connection is closed', () => target.connections.open === 0);
  });

  it('are used for at most a minute, even if they are busy', async () => {
    const target = await receiver(respondWith('200 OK', 'Keep-Alive: timeout=600'));
    await post(target.url);
    const now = performance.now.bind(performance);
    performance.now = () => now() + 60_000;
    try {
      expect(await post(target.url)).toMatchObject({ statusCode: 200 });
    } finally {
      performance.now = now;
    }
    expect(target.connections.total).toBe(2);
  });

  it('are closed with the client', async () => {
    const other = httpClient({ WEBHOOK_TARGETS: 'any' });
    const target = await receiver(respondWith('200 OK'));
    await other.post({ url: target.url, headers: HEADERS, body: BODY });
    expect(target.connections.open).toBe(1);
    await other.close();
    await eventually('the connection is closed', () => target.connections.open === 0);
  });
});

describe('Interim responses', () => {
  it.each([
    ['100', [interim('100 Continue') + OK]],
    ['102', [interim('102 Processing') + OK]],
    ['103', [interim('103 Early Hints'), OK]],
    ['199', [interim('199 Unknown'), OK]],
    ['several', [interim('103 Early Hints') + interim('100 Continue'), interim('100 Continue'), OK]],
    ['100, byte by byte,', [...(interim('100 Continue') + OK)]],
  ])('%s before the response are ignored', async (_, pieces) => {
    const target = await receiver({
      respond: (socket) => {
        void (async () => {
          for (const piece of pieces) {
            socket.write(piece);
            await nextTurn();
          }
        })();
      },
    });
    for (let count = 1; count <= 3; count += 1) {
      expect(await post(target.url)).toMatchObject({ ...RESPONSE, statusCode: 200 });
    }
    expect(target.requests).toHaveLength(3);
    expect(target.connections.total).toBe(1);
  });
});

describe('Retry-After', () => {
  it.each([
    ['503 Service Unavailable', 'Sun, 06 Nov 1994 08:49:37 GMT', 0],
    ['429 Too Many Requests', '999999999', 3600],
    ['429 Too Many Requests', 'soon', null],
  ])('%s, %s', async (status, header, expected) => {
    const target = await receiver(respondWith(status, `Retry-After: ${header}`));
    expect(await post(target.url)).toMatchObject({ failure: null, retryAfterSeconds: expected });
  });
});
