import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server } from 'node:http';
import { createRequire } from 'node:module';
import { connect, type Socket } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import {
  enableIdentification,
  BODY_OPERATIONS,
  CREATE_MCP_TOKEN,
  DISCONNECT_SANDBOX_ACCOUNT,
  LINK_SANDBOX_ACCOUNT,
  DASHBOARD_OPERATIONS,
  INTERNAL_OPERATIONS,
  UNLINK_ACCOUNT,
  UNKNOWN_ID,
  LIST_SIGN_IN_LINKS,
  OPERATIONS,
  SESSION_OPERATIONS,
  SEARCH_DETECTED_ACCOUNTS,
  SUBMIT_JOB_APPLICATION,
  type TestedOperation,
} from '../../support/documents/operations.js';
import { toVersion30 } from '../../../src/infrastructure/openapi/index.js';
import { issueServiceToken } from '../../support/logins/service-tokens.js';
import {
  basic,
  error,
  startTestApp,
  useLogin,
  useTestApp,
  type TestResponse,
} from '../../support/test-app.js';

const NOT_FOUND = error('INVALID_REQUEST', 'NOT_FOUND', 'No operation has this path.');
const notAllowed = (allow: string) =>
  error(
    'INVALID_REQUEST',
    'METHOD_NOT_ALLOWED',
    `The method is not allowed for this path. Allowed methods: ${allow}.`,
  );
const suggestion = (path: string) =>
  error('INVALID_REQUEST', 'NOT_FOUND', `No operation has this path. Did you mean ${path}?`);
const SET_MERCHANT_STATUS: TestedOperation = {
  id: 'setMerchantStatus',
  path: '/merchants/16/status',
  method: 'PUT',
  credentials: 'service',
  body: { type: 'link', status: 'UP' },
};
const REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/;
/** OPTIONS is a preflight request there (cross-origin-requests.spec.ts). */
const CROSS_ORIGIN_PATHS = ['/session/open', '/apply', '/openapi.json', '/openapi-3.0.json', '/openapi.yaml'];

const service = useTestApp({
  MCP_TOKEN_REQUESTS_PER_MINUTE: '1000000',
  APPLICATIONS_PER_HOUR: '1000000',
});
const owner = useLogin(service);
let serviceToken: string;
beforeAll(async () => {
  ({ token: serviceToken } = await issueServiceToken(service));
  await enableIdentification(service);
});

/** A response as read from the socket. */
interface RawResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const openConnection = (): Socket => {
  const { hostname, port } = new URL(service.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  return socket;
};

/** Sends raw bytes and returns everything that the service sends until it closes the connection. */
async function exchange(...parts: readonly (string | Uint8Array)[]): Promise<string> {
  const socket = openConnection();
  for (const part of parts) socket.write(part);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** Parses responses. A response without Content-Length ends with the connection. */
function parseResponses(text: string): RawResponse[] {
  const responses: RawResponse[] = [];
  let bytes = Buffer.from(text);
  while (bytes.length > 0) {
    const end = bytes.indexOf('\r\n\r\n');
    if (end < 0) throw new Error(`This is no HTTP answer: ${bytes.toString('utf8').slice(0, 200)}`);
    const [statusLine = '', ...lines] = bytes.subarray(0, end).toString('utf8').split('\r\n');
    const headers = new Headers(
      lines.map((line): [string, string] => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon), line.slice(colon + 1).trim()];
      }),
    );
    const length = Number(headers.get('content-length') ?? bytes.length);
    const body = bytes.subarray(end + 4, end + 4 + length);
    responses.push({ status: Number(statusLine.split(' ')[1]), headers, text: body.toString('utf8') });
    bytes = bytes.subarray(end + 4 + length);
  }
  return responses;
}

async function exchangeOne(...parts: readonly (string | Uint8Array)[]): Promise<RawResponse> {
  const responses = parseResponses(await exchange(...parts));
  expect(responses).toHaveLength(1);
  return responses[0] as RawResponse;
}

/** A request to operation 1 as text, with `Connection: close`. */
function request(body: string, headers: readonly string[], options: { keep?: boolean } = {}): string {
  return [
    `POST ${CREATE_MCP_TOKEN.path} HTTP/1.1`,
    'Host: localhost',
    `Authorization: ${basic(service.development)}`,
    ...(options.keep ? [] : ['Connection: close']),
    ...headers,
    '',
    body,
  ].join('\r\n');
}

const JSON_TYPE = 'Content-Type: application/json';
const BODY = '{"external_user_id":"raw"}';

function expectErrorBody({ headers, text }: RawResponse): Record<string, unknown> {
  expect(headers.get('x-request-id')).toMatch(REQUEST_ID);
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  const body = JSON.parse(text) as Record<string, unknown>;
  expect(Object.keys(body)).toEqual(['error_type', 'error_code', 'error_message']);
  expect(headers.get('link')).toBe(`</docs/errors#${String(body['error_code']).toLowerCase()}>; rel="help"`);
  return body;
}

async function expectAlive(): Promise<void> {
  expect((await service.request('/healthz')).status).toBe(200);
}

async function sendTo(
  operation: TestedOperation,
  change: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<TestResponse> {
  if (operation === DISCONNECT_SANDBOX_ACCOUNT) await sendTo(LINK_SANDBOX_ACCOUNT);
  // A user gets only some links per hour.
  if (operation.id === 'createSignInLink') await service.database.query('DELETE FROM attempt_count');
  const { path, body, credentials, method = 'POST' } = operation;
  return service.request(path, {
    method,
    body: change.body ?? body,
    ...(credentials === 'basic' ? { as: service.development } : {}),
    ...(credentials === 'login' ? { login: owner } : {}),
    ...(credentials === 'service' ? { token: serviceToken } : {}),
    headers: change.headers ?? {},
  });
}

describe('Paths and methods', () => {
  it.each(['/nowhere', '/apply.json', '/.env', '/constructor', '/__proto__'])(
    'responds with 404 to %s for every method',
    async (path) => {
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
        const { status, headers, body } = await service.request(path, { method });
        expect([method, status, body]).toEqual([method, 404, NOT_FOUND]);
        expect(headers.get('x-request-id')).toMatch(REQUEST_ID);
        expect(headers.get('link')).toBe('</docs/errors#not_found>; rel="help"');
        expect(headers.has('allow')).toBe(false);
      }
    },
  );

  it.each([
    ['/mcp/token/create', '/mcp/tokens/create'],
    ['/mcp/tokens/create/more', '/mcp/tokens/create'],
    ['/detected_accounts/search', '/detected-accounts/search'],
    ['/detected-accounts/identify', '/detected_accounts/identify'],
    ['/audit-logs', '/audit_logs'],
    [`/webhook-endpoint/${UNKNOWN_ID}`, '/webhook-endpoints/{id}'],
    ['/openapi', '/openapi.json'],
  ])('suggests for %s the nearest path', async (path, nearest) => {
    const { status, body } = await service.request(path);
    expect([status, body]).toEqual([404, suggestion(nearest)]);
  });

  it.each(['/event', '/event/batch', '/detection', '/merchants/16/statuses'])(
    'does not suggest a path of the internal API for %s',
    async (path) => {
      const { status, body } = await service.request(path, { method: 'POST' });
      expect([status, body['error_message']]).toEqual([
        404,
        expect.not.stringMatching(/event|detections|status/),
      ]);
    },
  );

  const READ = 'GET, HEAD';
  const PLATFORM_OPERATIONS: readonly TestedOperation[] = [
    ...OPERATIONS,
    ...SESSION_OPERATIONS,
    LIST_SIGN_IN_LINKS,
  ];
  const allowedOf = (path: string): string => {
    const methods = [...PLATFORM_OPERATIONS, ...DASHBOARD_OPERATIONS]
      .filter((operation) => pathOf(operation) === pathOf({ path }))
      .map(({ method = 'POST' }) => (method === 'GET' ? READ : method));
    return [...new Set(methods.flatMap((method) => method.split(', ')))].toSorted().join(', ');
  };
  const pathOf = ({ path }: { path: string }): string => path.replace(/\?.*/, '');
  const PATHS: readonly (readonly [path: string, allow: string])[] = [
    ...PLATFORM_OPERATIONS.map(({ path }) => [path, allowedOf(path)] as const),
    ...DASHBOARD_OPERATIONS.map(({ path }) => [path, allowedOf(path)] as const),
    ['/healthz', READ],
    ['/readyz', READ],
    ['/', READ],
    ['/docs', READ],
    ['/docs/nothing', READ],
    ['/openapi.json', READ],
    ['/openapi-3.0.json', READ],
    ['/openapi.yaml', READ],
  ];

  it.each(PATHS)('responds with 405 to methods other than those of %s (%s)', async (path, allow) => {
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'];
    const allowed = [...allow.split(', '), ...(CROSS_ORIGIN_PATHS.includes(path) ? ['OPTIONS'] : [])];
    for (const method of methods.filter((candidate) => !allowed.includes(candidate))) {
      const { status, headers, body } = await service.request(path, { method });
      expect([method, status, body]).toEqual([method, 405, notAllowed(allow)]);
      expect(headers.get('allow')).toBe(allow);
      expect(headers.get('link')).toBe('</docs/errors#method_not_allowed>; rel="help"');
      expect(headers.get('x-request-id')).toMatch(REQUEST_ID);
    }
  });

  const WRITTEN = BODY_OPERATIONS.filter(({ path }) => !allowedOf(path).includes('HEAD'));
  it.each(WRITTEN)('responds with 405 and no body to HEAD $path', async ({ path }) => {
    const { status, headers, body } = await service.request(path, { method: 'HEAD' });
    expect([status, body]).toEqual([405, undefined]);
    expect(headers.get('allow')).toBe('POST');
    expect(headers.get('x-request-id')).toMatch(REQUEST_ID);
  });

  it('does not take the last part of a path for an ID', async () => {
    const { status, headers } = await service.request('/webhook-endpoints/create', {
      login: await service.login('owner'),
    });
    expect([status, headers.get('allow')]).toEqual([405, 'POST']);
  });

  it.each([
    '/Healthz',
    '/healthz/',
    '/MCP/tokens/create',
    `${CREATE_MCP_TOKEN.path}/`,
    '/apply/',
    '/Apply',
    '/audit_logs/',
    '/AUDIT_LOGS',
    '/oauth/token/',
    '/OAuth/token',
    '/Webhook-endpoints/create',
    '/login/',
    `/Webhook-endpoints/${UNKNOWN_ID}`,
    `/webhook-endpoints/${UNKNOWN_ID}/`,
  ])('responds with 404 to %s, because paths match exactly', async (path) => {
    for (const method of ['GET', 'POST', 'PATCH']) {
      const response = await fetch(`${service.baseUrl}${path}`, { method });
      expect([method, response.status]).toEqual([method, 404]);
      expect(await response.json()).toMatchObject({ error_code: 'NOT_FOUND' });
    }
  });

  it('responds to HEAD like GET, without the body', async () => {
    for (const path of ['/healthz', '/readyz', '/openapi.json']) {
      const { status, body } = await service.request(path, { method: 'HEAD' });
      expect([path, status, body]).toEqual([path, 200, undefined]);
    }
  });

  it('responds with 405 to TRACE', async () => {
    const response = await exchangeOne(
      `TRACE ${CREATE_MCP_TOKEN.path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
    expect(expectErrorBody(response)['error_code']).toBe('METHOD_NOT_ALLOWED');
  });

  it.each([
    '/%',
    '/%zz',
    '/%ff',
    '/%c0%ae%c0%ae/etc/passwd',
    '/mcp/tokens/create%',
    '/docs/%',
    '/request-logs?environment=production&external_user_id=%',
    '/request-logs?environment=production&external_user_id=%ff',
  ])('responds with 400 to the percent-encoding of %j', async (path) => {
    for (const method of ['GET', 'POST']) {
      const response = await exchangeOne(
        `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
      );
      expect(response.status).toBe(400);
      expect(expectErrorBody(response)).toEqual(
        error(
          'INVALID_REQUEST',
          'INVALID_FIELD',
          'The URL contains a percent sign that does not begin an encoded UTF-8 character.',
        ),
      );
    }
  });

  it.each([
    '/mcp/tokens/create%00',
    '/mcp%2ftokens%2fcreate',
    '/..%2f..%2fpackage.json',
    '/docs/%2e%2e/%2e%2e/package.json',
    '//',
    '/\\',
    `/${'a'.repeat(8_000)}`,
    `/${'%25'.repeat(2_000)}`,
  ])('responds with 404 to the malformed path %j', async (path) => {
    for (const method of ['GET', 'POST']) {
      const response = await exchangeOne(
        `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
      );
      expect(response.status).toBe(404);
      expect(expectErrorBody(response)['error_type']).toBe('INVALID_REQUEST');
    }
  });
});

describe('Every response', () => {
  const SAMPLES: readonly (readonly [string, () => Promise<{ headers: Headers }>])[] = [
    ['200', () => sendTo(SEARCH_DETECTED_ACCOUNTS)],
    ['a token', () => sendTo(CREATE_MCP_TOKEN)],
    ['400', () => sendTo(SUBMIT_JOB_APPLICATION, { body: {} })],
    ['401', () => service.request(CREATE_MCP_TOKEN.path, { body: {} })],
    ['404', () => service.request('/nowhere')],
    ['405', () => service.request(CREATE_MCP_TOKEN.path)],
    ['413', () => sendTo(SUBMIT_JOB_APPLICATION, { body: 'x'.repeat(600_000) })],
    ['415', () => sendTo(SUBMIT_JOB_APPLICATION, { headers: { 'content-type': 'text/plain' } })],
    ['health', () => service.request('/healthz')],
    ['readiness', () => service.request('/readyz')],
    ['the document', () => service.request('/openapi.json')],
    ['a page', () => fetch(`${service.baseUrl}/docs`)],
  ];

  it.each(SAMPLES)('has a request ID and does not reveal the software (%s)', async (_what, send) => {
    const { headers } = await send();
    expect(headers.get('x-request-id')).toMatch(REQUEST_ID);
    for (const header of ['server', 'x-powered-by'])
      expect([header, headers.has(header)]).toEqual([header, false]);
    // Only public content, which may be cached, has an entity tag.
    expect(headers.has('etag')).toBe(headers.get('cache-control') !== 'no-store');
  });

  it('has a generated request ID if the client’s ID is not acceptable', async () => {
    const ids = new Set<string | null>();
    for (const own of ['', 'a b', 'ä', 'x'.repeat(65), '<script>', 'a,b', "a'b"]) {
      const { headers } = await service.request('/healthz', { headers: { 'x-request-id': own } });
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      ids.add(headers.get('x-request-id'));
    }
    expect(ids.size).toBe(7);
  });

  it.each(['a', 'A_b-9', 'Id_-'.repeat(16)])('has the request ID of the client (%s)', async (own) => {
    for (const path of ['/healthz', '/nowhere', CREATE_MCP_TOKEN.path]) {
      const { headers } = await service.request(path, { headers: { 'x-request-id': own } });
      expect(headers.get('x-request-id')).toBe(own);
    }
  });
});

describe('Requests', () => {
  it('keep their prototypes, so that V8 can share a hidden class between them', async () => {
    const requests: [IncomingMessage, unknown][] = [];
    const server = service.app.getHttpServer() as Server;
    server.prependOnceListener('request', (request: IncomingMessage) =>
      requests.push([request, Object.getPrototypeOf(request)]),
    );
    await service.request('/healthz');
    const [[request, prototype] = []] = requests;
    expect(prototype).toBeDefined();
    expect(Object.getPrototypeOf(request)).toBe(prototype);
  });
});

describe('Request bodies', () => {
  it.each(BODY_OPERATIONS)(
    'may be compressed with a supported encoding, otherwise 415 ($id)',
    async (operation) => {
      const text = JSON.stringify(operation.body);
      const statuses: number[] = [];
      for (const [encoding, bytes] of [
        ['gzip', gzipSync(text)],
        ['deflate', deflateSync(text)],
        ['br', brotliCompressSync(text)],
      ] as const) {
        statuses.push(
          (await sendTo(operation, { body: bytes, headers: { 'content-encoding': encoding } })).status,
        );
      }
      const { status = 200 } = operation;
      expect([
        [status, status, status],
        [415, 415, 415],
      ]).toContainEqual(statuses);
    },
  );

  it('are limited by their decompressed size', async () => {
    const bomb = gzipSync(JSON.stringify({ external_user_id: ' '.repeat(20_000_000) }));
    expect(bomb.length).toBeLessThan(100_000);
    const { status } = await sendTo(CREATE_MCP_TOKEN, {
      body: bomb,
      headers: { 'content-encoding': 'gzip' },
    });
    expect([413, 415]).toContain(status);
  });

  it.each([
    ['gzip', Buffer.from('no gzip')],
    ['gzip', gzipSync(JSON.stringify(CREATE_MCP_TOKEN.body)).subarray(0, 20)],
    ['deflate', Buffer.from('no deflate')],
    ['br', Buffer.from([255, 255, 255, 255])],
    ['compress', Buffer.from('{}')],
    ['zstd', Buffer.from('{}')],
    ['nonsense', Buffer.from('{}')],
  ])('that are not valid %s are rejected, with that as the reason', async (encoding, bytes) => {
    const { status, body } = await sendTo(CREATE_MCP_TOKEN, {
      body: bytes,
      headers: { 'content-encoding': encoding },
    });
    expect([400, 415]).toContain(status);
    expect((body as { error_message: string }).error_message).toMatch(/content.encoding/i);
  });

  it.each([
    ['x-gzip', gzipSync],
    ['deflate', deflateRawSync],
    ['identity, gzip', gzipSync],
    ['', Buffer.from],
    ['UTF-8', Buffer.from],
    ['identity, identity', Buffer.from],
  ] as const)('may name the encoding %j', async (encoding, encode) => {
    const body = encode(JSON.stringify(CREATE_MCP_TOKEN.body));
    const headers = { 'content-encoding': encoding };
    expect((await sendTo(CREATE_MCP_TOKEN, { body, headers })).status).toBe(200);
  });

  it('are not decompressed twice', async () => {
    const body = gzipSync(gzipSync(JSON.stringify(CREATE_MCP_TOKEN.body)));
    const { status } = await sendTo(CREATE_MCP_TOKEN, {
      body,
      headers: { 'content-encoding': 'gzip, gzip' },
    });
    expect(status).toBe(415);
  });

  const ACCEPTED_TYPES = [
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
    'application/json;charset=utf8',
    'application/json; charset=us-ascii',
    'application/json; version=1; profile="a"',
    'text/json',
    'application/merge-patch+json',
    'application/vnd.example.v1+json; charset=utf-8',
  ];
  const OF_STRANGERS = ['submitJobApplication', 'openSession'];
  const ACCEPTED: readonly TestedOperation[] = [...BODY_OPERATIONS, ...SESSION_OPERATIONS];
  it.each([
    ...ACCEPTED,
    ...INTERNAL_OPERATIONS.filter(({ id }) => id !== 'publishEvents'),
    UNLINK_ACCOUNT,
    SET_MERCHANT_STATUS,
    ...DASHBOARD_OPERATIONS.filter(({ body }) => body !== undefined),
  ])('of $id must be JSON in UTF-8 within the size limit', async (operation) => {
    for (const type of [
      'text/plain',
      'application/x-ndjson',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/xml',
      'application/json; charset=utf-16',
      'application/json; charset=iso-8859-1',
      'application/jsonx',
      'application/+json',
      'text/x+json',
      'nonsense',
    ]) {
      const { status, body } = await sendTo(operation, { headers: { 'content-type': type } });
      expect([type, status, body['error_code']]).toEqual([type, 415, 'UNSUPPORTED_MEDIA_TYPE']);
    }
    for (const type of ACCEPTED.includes(operation) ? ACCEPTED_TYPES : []) {
      const { status } = await sendTo(operation, { headers: { 'content-type': type } });
      expect([type, status]).toEqual([type, operation.status ?? 200]);
    }
    const { status, body } = await sendTo(operation, { body: { large: 'x'.repeat(600_000) } });
    const limit = OF_STRANGERS.includes(operation.id) ? 262_144 : 524_288;
    const message = `The request body must not be larger than ${limit} bytes.`;
    expect([status, body]).toEqual([413, error('INVALID_REQUEST', 'PAYLOAD_TOO_LARGE', message)]);
  });

  it('may be chunked', async () => {
    const chunks = ['{"external_', 'user_id"', ':"chunked"}'].map(
      (chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`,
    );
    const response = await exchangeOne(
      request('', ['Transfer-Encoding: chunked', JSON_TYPE]),
      ...chunks,
      '0\r\n\r\n',
    );
    expect(response.status).toBe(200);
    const kept = await service.database.query(`SELECT 1 FROM mcp_token WHERE external_user_id = 'chunked'`);
    expect(kept).toHaveLength(1);
  });

  it('have the same size limit if they are chunked', async () => {
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    const response = await exchangeOne(
      request('', ['Transfer-Encoding: chunked', JSON_TYPE]),
      ...Array<string>(20).fill(chunk),
      '0\r\n\r\n',
    );
    expect(response.status).toBe(413);
    expect(expectErrorBody(response)['error_code']).toBe('PAYLOAD_TOO_LARGE');
  });

  it('that are missing count as empty objects', async () => {
    const response = await exchangeOne(request('', [JSON_TYPE, 'Content-Length: 0']));
    expect(response.status).toBe(400);
    expect(expectErrorBody(response)['error_message']).toBe('The external user id field is required.');
  });

  it('are awaited after "Expect: 100-continue"', async () => {
    const socket = openConnection();
    socket.write(request('', [JSON_TYPE, `Content-Length: ${BODY.length}`, 'Expect: 100-continue']));
    let received = '';
    for await (const chunk of socket) {
      received += String(chunk);
      if (received === 'HTTP/1.1 100 Continue\r\n\r\n') socket.write(BODY);
    }
    expect(received).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
  });

  it('are read despite an unknown "Expect" header', async () => {
    const response = await exchangeOne(
      request(BODY, [JSON_TYPE, `Content-Length: ${BODY.length}`, 'Expect: the-unexpected']),
    );
    expect([200, 400, 417]).toContain(response.status);
    expect(response.headers.get('x-request-id')).toMatch(REQUEST_ID);
  });
});

describe('Connections', () => {
  it.each<[string, () => string]>([
    ['text', () => 'What is this?\r\n\r\n'],
    ['a TLS handshake', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an unknown method', () => 'BREW /pot HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a version that there is not', () => 'GET /healthz HTTP/9.9\r\nHost: x\r\n\r\n'],
    ['a header without a colon', () => 'GET /healthz HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n'],
    ['a header with U+0000', () => 'GET /healthz HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n'],
    ['a length that is no number', () => request(BODY, [JSON_TYPE, 'Content-Length: many'])],
    ['a negative length', () => request(BODY, [JSON_TYPE, 'Content-Length: -1'])],
    ['two lengths', () => request(BODY, [JSON_TYPE, 'Content-Length: 26', 'Content-Length: 27'])],
    [
      'a length and chunks',
      () => request('0\r\n\r\n', [JSON_TYPE, 'Content-Length: 5', 'Transfer-Encoding: chunked']),
    ],
    ['a chunk of no size', () => request('zz\r\n', [JSON_TYPE, 'Transfer-Encoding: chunked'])],
    ['two Hosts', () => 'GET /healthz HTTP/1.1\r\nHost: x\r\nhost: x\r\nConnection: close\r\n\r\n'],
    [
      'two Authorizations',
      () => request(BODY, [JSON_TYPE, `Content-Length: ${BODY.length}`, 'authorization: Basic eDp5']),
    ],
    ['no Host', () => 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n'],
  ])('respond with 400 and the error body to %s', async (_what, bytes) => {
    const response = await exchangeOne(Buffer.from(bytes(), 'latin1'));
    expect(response.status).toBe(400);
    expect(expectErrorBody(response)).toMatchObject({
      error_type: 'INVALID_REQUEST',
      error_code: 'INVALID_FIELD',
    });
    await expectAlive();
  });

  it.each([
    ['HTTP/1.0 without a Host', 'HTTP/1.0\r\n'],
    ['an empty Host', 'HTTP/1.1\r\nHost:\r\nConnection: close\r\n'],
  ])('serve pages to the health checks of proxies: %s', async (_what, rest) => {
    for (const path of ['/login', '/docs', '/readyz', '/openapi.json'])
      expect([path, (await exchangeOne(`GET ${path} ${rest}\r\n`)).status]).toEqual([path, 200]);
  });

  it('respond with 431 to headers that are too large', async () => {
    for (const headers of [
      [`X-Large: ${'x'.repeat(40_000)}`],
      Array.from({ length: 500 }, (_, index) => `X-Many-${index}: ${'x'.repeat(100)}`),
    ]) {
      const response = await exchangeOne(request('', headers));
      expect(response.status).toBe(431);
      expectErrorBody(response);
    }
    await expectAlive();
  });

  it('may end at any point without affecting the service', async () => {
    const whole = request(BODY, [JSON_TYPE, `Content-Length: ${BODY.length}`]);
    const pieces = [10, 60, whole.length - BODY.length - 1, whole.length - BODY.length, whole.length - 5];
    for (const length of pieces) {
      for (const end of ['end', 'destroy', 'resetAndDestroy'] as const) {
        const socket = openConnection();
        const closed = new Promise((resolve) => socket.once('close', resolve));
        socket.resume();
        socket.write(whole.slice(0, length), () => socket[end]());
        await closed;
      }
    }
    const chunked = openConnection();
    const closed = new Promise((resolve) => chunked.once('close', resolve));
    chunked.resume();
    chunked.write(`${request('', ['Transfer-Encoding: chunked', JSON_TYPE])}ff\r\n{`, () =>
      chunked.destroy(),
    );
    await closed;
    await expectAlive();
    expect((await sendTo(CREATE_MCP_TOKEN)).status).toBe(200);
  });

  it('may be closed before the response without affecting the service', async () => {
    for (let round = 0; round < 20; round += 1) {
      const socket = openConnection();
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.write(request(BODY, [JSON_TYPE, `Content-Length: ${BODY.length}`]), () => socket.destroy());
      await closed;
    }
    await expectAlive();
    expect((await sendTo(CREATE_MCP_TOKEN)).status).toBe(200);
  });

  it('may have several pipelined requests', async () => {
    const piped = (user: string, id: string, keep: boolean) => {
      const body = `{"external_user_id":${user}}`;
      return request(body, [JSON_TYPE, `Content-Length: ${body.length}`, `X-Request-Id: ${id}`], { keep });
    };
    const responses = parseResponses(
      await exchange(
        piped('"one"', 'id-1', true) + piped('2', 'id-2', true) + piped('"three"', 'id-3', false),
      ),
    );
    expect(responses.map(({ status, headers }) => [status, headers.get('x-request-id')])).toEqual([
      [200, 'id-1'],
      [400, 'id-2'],
      [200, 'id-3'],
    ]);
  });

  it('respond to every earlier request before they reject invalid HTTP', async () => {
    const tokenRequest = (keep: boolean) =>
      request(BODY, [JSON_TYPE, `Content-Length: ${BODY.length}`], { keep });
    const brokenBody = request('zz\r\n', [JSON_TYPE, 'Transfer-Encoding: chunked'], { keep: true });
    for (const [bytes, statuses] of [
      [`${tokenRequest(true)}What is this?\r\n\r\n`, [200, 400]],
      [`${tokenRequest(true).repeat(5)}\x16\x03\x01`, [200, 200, 200, 200, 200, 400]],
      [tokenRequest(true) + tokenRequest(true) + brokenBody + tokenRequest(true), [200, 200, 400]],
      [`${tokenRequest(false)}What is this?\r\n\r\n`, [200]],
    ] as const) {
      const responses = parseResponses(await exchange(bytes));
      expect(responses.map(({ status }) => status)).toEqual(statuses);
    }
    // Also if the client has half-closed the connection or keeps sending.
    const socket = openConnection();
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => void chunks.push(chunk));
    socket.write(`${tokenRequest(true)}What is this?\r\n`);
    const more = setInterval(() => socket.write('and this?\r\n'), 5);
    await once(socket, 'close');
    clearInterval(more);
    expect(parseResponses(Buffer.concat(chunks).toString()).map(({ status }) => status)).toEqual([200, 400]);
  });

  it('stay usable after an error that was sent before the body was read', async () => {
    const body = 'x'.repeat(10_000);
    const refused = [
      `POST ${CREATE_MCP_TOKEN.path} HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}`,
      `Content-Length: ${body.length}\r\n\r\n${body}`,
    ].join('\r\n');
    const responses = parseResponses(
      await exchange(refused + request(BODY, [JSON_TYPE, `Content-Length: ${BODY.length}`])),
    );
    expect(responses.map(({ status }) => status)).toEqual([401, 200]);
  });

  it('accept an absolute URL in the request line', async () => {
    const response = await exchangeOne(
      request(BODY, [JSON_TYPE, `Content-Length: ${BODY.length}`]).replace(
        `POST ${CREATE_MCP_TOKEN.path}`,
        `POST http://localhost${CREATE_MCP_TOKEN.path}`,
      ),
    );
    expect(response.status).toBe(200);
  });

  it('respond with a documented status to repeated headers', async () => {
    const length = `Content-Length: ${BODY.length}`;
    for (const [twice, statuses] of [
      [
        [JSON_TYPE, 'Content-Type: text/plain', length],
        [200, 400, 415],
      ],
      [
        [JSON_TYPE, length, length],
        [200, 400],
      ],
      [
        [JSON_TYPE, length, 'Content-Encoding: identity', 'Content-Encoding: gzip'],
        [400, 415],
      ],
    ] as const) {
      const response = await exchangeOne(request(BODY, twice));
      expect(statuses).toContain(response.status);
      if (response.status !== 200) expectErrorBody(response);
    }
    const ids = await exchangeOne(
      request(BODY, [JSON_TYPE, length, 'X-Request-Id: one', 'X-Request-Id: two']),
    );
    expect(ids.headers.get('x-request-id')).toMatch(REQUEST_ID);
  });
});

describe('Documentation', () => {
  // The document states the limits of this service, which are not the default ones.
  const expected = JSON.parse(
    readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8')
      .replace('Limit: 600 requests per minute per client', 'Limit: 1000000 requests per minute per client')
      .replace('accepts 6000 requests per minute', 'accepts 1000000 requests per minute')
      .replace('the dashboard API 600 per minute', 'the dashboard API 1000000 per minute')
      .replace('Limit: 30 requests per hour', 'Limit: 1000000 requests per hour'),
  ) as Record<string, unknown>;

  it('is served as the committed document', async () => {
    const { status, body, headers } = await service.request('/openapi.json');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(body).toEqual(expected);
  });

  it('is also served as OpenAPI 3.0', async () => {
    const { status, body, headers } = await service.request('/openapi-3.0.json');
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(body).toEqual(toVersion30(expected as never));
  });

  it('is also served as YAML', async () => {
    const response = await fetch(`${service.baseUrl}/openapi.yaml`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/yaml/);
    // The parser of @nestjs/swagger.
    const swagger = createRequire(createRequire(import.meta.url).resolve('@nestjs/swagger/package.json'));
    const { load } = swagger('js-yaml') as { load: (text: string) => unknown };
    expect(load(await response.text())).toEqual(expected);
  });
});

describe('A deployment with some surfaces', () => {
  it.each([
    ['platform', 401, 404, 404],
    ['careers', 404, 400, 404],
    ['dashboard', 404, 404, 404],
    ['internal', 404, 404, 401],
    ['platform,careers', 401, 400, 404],
  ])('of %s does not serve the other surfaces', async (surfaces, platform, careers, internal) => {
    await using deployment = await startTestApp({ SURFACES: surfaces });

    // Uses fetch directly, because the document covers all surfaces and has no 404.
    const send = async (path: string, body?: string) => {
      const options = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
      return (await fetch(`${deployment.baseUrl}${path}`, body === undefined ? {} : options)).status;
    };
    const statuses = [
      await send(CREATE_MCP_TOKEN.path, '{}'),
      await send(SEARCH_DETECTED_ACCOUNTS.path, '{}'),
      await send(SUBMIT_JOB_APPLICATION.path, '{}'),
      await send('/events', '{}'),
      await send('/readyz'),
      await send('/docs'),
    ];
    expect(statuses).toEqual([platform, platform, careers, internal, 200, 200]);
    expect(await send('/merchants')).toBe(platform);
    expect(await send('/request-logs')).toBe(surfaces === 'dashboard' ? 401 : 404);
  });
});
