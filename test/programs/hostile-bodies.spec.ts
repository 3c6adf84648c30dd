import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { IDENTIFY_OPERATION_NAME } from '../../src/modules/detected-accounts/index.js';
import { ApiClientsService } from '../../src/modules/api-clients/index.js';
import { mcpToken } from '../support/agents/agents.js';
import { documentedBodies, type DocumentedBody } from '../support/documents/api-document.js';
import { startDnsServer, type DnsServer } from '../support/http/dns-server.js';
import { Program } from '../support/programs/program.js';
import { rememberSecret } from '../support/runner/run-directory.js';
import { decode, encode, SamlTestProvider } from '../support/logins/saml-provider.js';
import { issueServiceToken } from '../support/logins/service-tokens.js';
import {
  addSamlProvider,
  newOwner,
  proveDomain,
  providerUrl,
  SSO_PATH,
  type Owner,
} from '../support/logins/single-sign-on.js';
import { basic, startTestApp, type TestApp } from '../support/test-app.js';
import { BEHIND_PROXY, Visitor } from '../support/pages/visitor.js';

/**
 * Milliseconds of CPU time for one request, on a machine that hashes `REFERENCE_BYTES` in `REFERENCE_TIME`; more on a slower one.
 * Ten times what the slowest takes: this finds work that grows faster than its input. `npm run bench:hostile` measures.
 */
const LIMIT = 1_500;
const REFERENCE_BYTES = 20 * 1_048_576;
const REFERENCE_TIME = 20;
/** A measurement includes garbage of other requests: only the best of this many is compared. */
const ATTEMPTS = 3;

const JSON_SIZE = 524_288;
const FORM_SIZE = 16_384;
const BATCH_SIZE = 4_194_304;

interface HostileBody {
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
}

let service: TestApp;
let dns: DnsServer;
let program: Program;
/** The program that gets the bodies, in a process of its own, because the heap of a test run distorts measurements. */
let baseUrl: string;
let metricsUrl: string;
let headersOf: Readonly<Record<string, Readonly<Record<string, string>>>>;
let scale: number;

beforeAll(async () => {
  const keys = {
    SECRET_PEPPER: randomBytes(32).toString('base64'),
    KEY_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  };
  rememberSecret(...Object.values(keys));
  dns = await startDnsServer();
  const shared = { ...keys, ...BEHIND_PROXY, DASHBOARD_URL: 'https://dashboard.example.com' };
  service = await startTestApp({ ...shared, DOMAIN_PROOF_DNS_SERVERS: dns.address });
  await service.app
    .get(ApiClientsService)
    .enableOperation(service.development.clientId, IDENTIFY_OPERATION_NAME);
  const login = await service.login();
  headersOf = {
    none: {},
    basic: { authorization: basic(service.development) },
    session: { cookie: login.cookie },
    'service-token': { authorization: `Bearer ${(await issueServiceToken(service)).token}` },
    agent: { authorization: `Bearer ${await mcpToken(service, 'user-1')}` },
  };
  const metricsPort = await freePort();
  program = new Program('main.js', {
    environment: {
      ...shared,
      DATABASE_URL: service.database.url,
      NODE_OPTIONS: `--import ${join(import.meta.dirname, '../support/programs/heap-reports.mjs')}`,
      DATA_DIR: service.dataDirectory,
      // Many requests wait for a connection at the same time, on a busy machine for long.
      DATABASE_CONNECT_TIMEOUT_MS: '60000',
      PORT: '0',
      METRICS_PORT: metricsPort,
      BACKGROUND_WORK: 'off',
      PLATFORM_REQUESTS_PER_MINUTE: '1000000',
      MCP_TOKEN_REQUESTS_PER_MINUTE: '1000000',
      MCP_TOOL_CALLS_PER_MINUTE: '1000000',
      APPLICATIONS_PER_HOUR: '1000000',
      DASHBOARD_REQUESTS_PER_MINUTE: '1000000',
      SESSION_OPENS_PER_MINUTE: '1000000',
    },
  });
  [, baseUrl = ''] = await program.waitForOutput(/Listening on (\S+)\. Documentation: \1\/docs"?/);
  metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
  const before = process.cpuUsage();
  createHash('sha256').update(Buffer.alloc(REFERENCE_BYTES)).digest();
  const { user, system } = process.cpuUsage(before);
  scale = Math.max(1, (user + system) / 1_000 / REFERENCE_TIME);
}, 60_000);
afterAll(async () => {
  await Program.endAll();
  await service.close();
  await dns.close();
});

async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return String(port);
}

/**
 * Returns the CPU time that the program has used, in milliseconds, in steps of 10 ms. Its metrics contain the same, but take
 * longer than most bodies.
 */
function cpuTime(): number {
  // In the second field, the name of the program can contain spaces.
  const [, user, system] = /\) (?:\S+ ){11}(\d+) (\d+) /.exec(
    readFileSync(`/proc/${program.pid}/stat`, 'utf8'),
  )!;
  return (Number(user) + Number(system)) * 10;
}

/** Repeats a part up to the size of a body. */
function filled(
  begin: string,
  part: string | ((index: number) => string),
  end: string,
  size: number,
): Buffer {
  if (typeof part === 'string') {
    const room = size - begin.length - end.length;
    return Buffer.from(begin + part.repeat(Math.floor(room / part.length)) + end);
  }
  const parts = [begin];
  let length = begin.length + end.length;
  for (let index = 0; ; index += 1) {
    const next = part(index);
    length += next.length;
    if (length > size) break;
    parts.push(next);
  }
  return Buffer.from(parts.join('') + end);
}

function hostileJson({ properties, isBatch }: DocumentedBody): HostileBody[] {
  const size = isBatch ? BATCH_SIZE : JSON_SIZE;
  const json = (name: string, bytes: Buffer): HostileBody => ({ name, type: 'application/json', bytes });
  const names = Object.keys(properties);
  const strings = names.filter((name) => properties[name]?.includes('string'));
  const arrays = names.filter((name) => properties[name]?.includes('array'));
  const valid = '{"a":0';
  return [
    json(
      'many members',
      filled(valid, (index) => `,"${index.toString(36)}":0`, '}', size),
    ),
    json(
      'many names like those of fields',
      filled(valid, (index) => `,"${names[0]}${index}":0`, '}', size),
    ),
    ...[...arrays, names[0] ?? 'a'].flatMap((name) => [
      json(`many items in ${name}`, filled(`{"${name}":[0`, ',0', ']}', size)),
      json(`many objects in ${name}`, filled(`{"${name}":[{}`, ',{}', ']}', size)),
    ]),
    json(
      'many members of an object',
      filled('{"metadata":{"a":""', (index) => `,"${index}":""`, '}}', size),
    ),
    json('deep nesting', filled(`{"${names[0]}":`, '[', '', size)),
    json('deep nesting of objects', filled(`{"${names[0]}":`, '{"a":', '', size)),
    json('many trailing commas', filled('{"a":[', '0,', ']', size)),
    ...strings.flatMap((name) => [
      json(`a long ${name}`, filled(`{"${name}":"`, 'a', '"}', size)),
      json(`a long ${name} of symbols`, filled(`{"${name}":"+1`, '@.', '"}', size)),
      json(`a long blank ${name}`, filled(`{"${name}":"a`, ' ', '\\u0000"}', size)),
    ]),
    json('a long name', filled('{"', 'a_', '":0}', size)),
  ];
}

function hostileLines(): HostileBody[] {
  const lines = (name: string, part: string): HostileBody => ({
    name,
    type: 'application/x-ndjson',
    bytes: filled('', part, '', BATCH_SIZE),
  });
  return [lines('many empty lines', '\n'), lines('many lines', '{}\n'), lines('many invalid lines', 'x\n')];
}

function hostileForm(size = FORM_SIZE): HostileBody[] {
  const form = (name: string, bytes: Buffer): HostileBody => ({
    name,
    type: 'application/x-www-form-urlencoded',
    bytes,
  });
  return [
    form(
      'many fields',
      filled('a=1', (index) => `&${index.toString(36)}=1`, '', size),
    ),
    form('many equal fields', filled('a=1', '&a=1', '', size)),
    form('many empty fields', filled('a=1', '&', '', size)),
    form('a long value', filled('client_id=', '%', '', size)),
  ];
}

function hostileFiles(size: number): HostileBody[] {
  const part = (index: number) => `--x\r\nContent-Disposition: form-data; name="${index}"\r\n\r\n1\r\n`;
  const type = 'multipart/form-data; boundary=x';
  return [{ name: 'many parts', type, bytes: filled('', part, '--x--\r\n', size) }];
}

async function expectCheap(
  method: string,
  path: string,
  credentials: string,
  bodies: readonly HostileBody[],
): Promise<void> {
  const slow: string[] = [];
  let latest = cpuTime();
  for (const { name, type, bytes } of bodies) {
    for (const compressed of [false, true]) {
      const body = new Uint8Array(compressed ? gzipSync(bytes, { level: 1 }) : bytes);
      const headers = {
        'content-type': type,
        accept: 'application/json, text/event-stream',
        ...headersOf[credentials],
        ...(compressed ? { 'content-encoding': 'gzip' } : {}),
      };
      let least = Infinity;
      let status = 0;
      for (let attempt = 0; attempt < ATTEMPTS && least > LIMIT * scale; attempt += 1) {
        // Includes what the previous request left to do after its response.
        const before = attempt === 0 ? latest : cpuTime();
        const response = await fetch(baseUrl + path, { method, headers, body });
        await response.arrayBuffer();
        ({ status } = response);
        latest = cpuTime();
        least = Math.min(least, latest - before);
      }
      if (least > LIMIT * scale || status >= 500)
        slow.push(`${name}${compressed ? ', compressed' : ''}: ${status}, ${Math.round(least)} ms`);
    }
  }
  expect(slow).toEqual([]);
}

describe.each(documentedBodies().map((body) => [body.method, body.path, body] as const))(
  '%s %s',
  (method, path, body) => {
    it('takes little CPU time for any body', async () => {
      const { isForm, isBatch, credentials } = body;
      const bodies = isForm ? hostileForm() : [...hostileJson(body), ...(isBatch ? hostileLines() : [])];
      await expectCheap(method, path, credentials, bodies);
    });
  },
);

describe('Requests that the API document does not describe', () => {
  it.each([
    ['/login', 'none', hostileForm()],
    ['/device', 'session', hostileForm()],
    ['/dashboard/single-sign-on/configurations/new', 'session', hostileForm(1_048_576)],
    ['/dashboard/organization/logo/change', 'session', hostileFiles(1_048_576)],
    [
      '/mcp',
      'agent',
      hostileJson({ properties: { jsonrpc: 'string', method: 'string', params: 'object' } } as never),
    ],
  ])('POST %s takes little CPU time for any body', async (path, credentials, bodies) => {
    await expectCheap('POST', path, credentials, bodies);
  });
});

describe('A body with too many parts', () => {
  const sent = async (type: string, body: string, path = '/events/batch', credentials = 'service-token') => {
    const headers = { 'content-type': type, ...headersOf[credentials] };
    return (await service.request(path, { method: 'POST', body, headers })).body;
  };

  it.each([
    [
      '2,001 fields',
      `{${Array.from({ length: 2_001 }, (_, index) => `"${index}":0`).join()}}`,
      'session/open',
      'none',
    ],
    [
      '2,001 items',
      JSON.stringify({ external_user_id: 'x', names: Array(2_001).fill('') }),
      'detected-accounts/search',
      'basic',
    ],
  ])('is refused: JSON with %s', async (_parts, body, path, credentials) => {
    expect(await sent('application/json', body, `/${path}`, credentials)).toMatchObject({
      error_message: 'The request body must not have more than 2000 fields and items.',
    });
  });

  it('is refused: a batch with 1,001 lines, even if they are blank', async () => {
    for (const line of ['{}\n', '\n', 'x\n'])
      expect(await sent('application/x-ndjson', line.repeat(1_001))).toMatchObject({
        error_message: 'The request body must not have more than 1000 lines.',
      });
    const { results } = (await sent('application/x-ndjson', '{}\n'.repeat(1_000))) as { results?: unknown[] };
    expect(results).toHaveLength(1_000);
  });

  it('is refused: a batch with 64,001 fields and items in its lines', async () => {
    const line = `{"event":[${Array(1_899).fill(0).join()}]}\n`;
    expect(await sent('application/x-ndjson', line.repeat(34))).toMatchObject({
      error_message: 'The request body must not have more than 64000 fields and items.',
    });
  });

  it('is refused: a form with 101 fields', async () => {
    const form = Array.from({ length: 101 }, (_, index) => `a${index}=1`);
    const type = 'application/x-www-form-urlencoded';
    expect(await sent(type, form.join('&'), '/oauth/token', 'none')).toMatchObject({
      error_message: 'The request body must not have more than 100 fields.',
    });
    expect(await sent(type, form.slice(1).join('&'), '/oauth/token', 'none')).toMatchObject({
      error_message: 'The grant type field is required.',
    });
  });
});

/** Sends a beginning and then the same bytes again and again, until the service closes the connection. */
async function sendEndlessly(
  begin: string,
  part: string,
  to = baseUrl,
): Promise<{ response: string; sent: number }> {
  const { hostname, port } = new URL(to);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  const block = Buffer.from(part.repeat(Math.ceil(65_536 / part.length)), 'latin1');
  let response = '';
  socket.on('data', (bytes) => (response += bytes.toString('latin1')));
  const fill = (): void => {
    while (!socket.destroyed && socket.write(block));
  };
  socket.on('drain', fill);
  socket.write(begin, 'latin1');
  fill();
  await new Promise((resolve) => socket.once('close', resolve));
  return { response, sent: socket.bytesWritten };
}

const headOf = (method: string, path: string, ...headers: string[]): string =>
  [`${method} ${path} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n');
const CHUNKED = 'Transfer-Encoding: chunked';
const JSON_TYPE = 'Content-Type: application/json';
const FORM_TYPE = 'Content-Type: application/x-www-form-urlencoded';
const chunk = (text: string, extension = ''): string =>
  `${text.length.toString(16)}${extension}\r\n${text}\r\n`;

/** Returns the CPU time of the best of several attempts. */
async function leastTime(send: () => Promise<void>, limit = LIMIT): Promise<number> {
  let least = Infinity;
  for (let attempt = 0; attempt < ATTEMPTS && least > limit * scale; attempt += 1) {
    const before = cpuTime();
    await send();
    least = Math.min(least, cpuTime() - before);
  }
  return least;
}

/** CPU time of the event loop in milliseconds, without that of other threads. */
function eventLoopTime(): number {
  const statistics = readFileSync(`/proc/${program.pid}/task/${program.pid}/schedstat`, 'utf8');
  return Number(statistics.split(' ')[0]) / 1e6;
}

/** Sends requests at the same time. Whatever takes long must not do so in the event loop: limited to ten times 20 ms for each. */
async function expectFreeEventLoop(sends: readonly (() => Promise<number>)[], status: number): Promise<void> {
  const before = eventLoopTime();
  const statuses = await Promise.all(sends.map((send) => send()));
  const time = (eventLoopTime() - before) / sends.length;
  expect(new Set(statuses)).toEqual(new Set([status]));
  expect(time).toBeLessThan(200 * scale);
}

describe('A body in small chunks', () => {
  const SCATTERED = 'The request body has too many small chunks. Send larger chunks.';

  it.each([
    ['of JSON', headOf('POST', '/session/open', JSON_TYPE, CHUNKED), chunk('a'), '400'],
    ['of JSON, of two bytes', headOf('POST', '/session/open', JSON_TYPE, CHUNKED), chunk('aa'), '400'],
    [
      'of JSON, with extensions',
      headOf('POST', '/session/open', JSON_TYPE, CHUNKED),
      chunk('a', ';b=c'),
      '400',
    ],
    [
      'of a compressed body',
      headOf('POST', '/session/open', JSON_TYPE, CHUNKED, 'Content-Encoding: gzip'),
      chunk('a'),
      '400',
    ],
    ['of a form', headOf('POST', '/oauth/token', FORM_TYPE, CHUNKED), chunk('a'), '400'],
    ['of a page', headOf('POST', '/login', FORM_TYPE, CHUNKED), chunk('a'), '400'],
    ['without credentials', headOf('POST', '/events/batch', CHUNKED), chunk('a'), '401'],
    ['that nobody reads', headOf('GET', '/healthz', CHUNKED), chunk('a'), '200'],
  ])('takes little CPU time: %s', async (_what, begin, part, status) => {
    const least = await leastTime(async () => {
      const { response } = await sendEndlessly(begin, part);
      expect(response.slice(9, 12)).toBe(status);
      if (status === '400') expect(response).toContain(SCATTERED);
    });
    expect(least).toBeLessThan(LIMIT * scale);
  });

  it('takes little CPU time: with a service token, up to the limit of a batch', async () => {
    const { authorization } = headersOf['service-token'] as { authorization: string };
    const type = 'Content-Type: application/x-ndjson';
    const begin = headOf('POST', '/events/batch', `Authorization: ${authorization}`, type, CHUNKED);
    const least = await leastTime(async () => {
      expect((await sendEndlessly(begin, chunk('\n'))).response).toContain(SCATTERED);
    });
    expect(least).toBeLessThan(LIMIT * scale);
  });

  it('takes little CPU time: of pipelined requests', async () => {
    const request = `${headOf('POST', '/session/open', JSON_TYPE, CHUNKED)}${chunk('a').repeat(500)}0\r\n\r\n`;
    expect(await leastTime(async () => void (await sendEndlessly('', request)))).toBeLessThan(LIMIT * scale);
  });

  it.each([
    ['5,000 chunks of a byte', 1, 5_000],
    ['4,000 chunks of 16 bytes', 16, 64_000],
  ])('is read if the client is honest: %s', async (_what, size, length) => {
    const body = '{"device_id":1'.padEnd(length - 1) + '}';
    const chunks = Array.from({ length: length / size }, (_, index) =>
      chunk(body.slice(index * size, (index + 1) * size)),
    ).join('');
    const begin = headOf('POST', '/session/open', JSON_TYPE, CHUNKED, 'Connection: close');
    const { hostname, port } = new URL(baseUrl);
    const socket = connect(Number(port), hostname);
    socket.write(`${begin}${chunks}0\r\n\r\n`);
    let response = '';
    for await (const bytes of socket) response += String(bytes);
    expect(response).toContain('The session id field is required.');
  });
});

describe('A body that nobody reads', () => {
  const PART = chunk('a'.repeat(16_384));
  /** Bytes that the buffers of both systems hold. Without a limit, the service would receive gigabytes within its time limit. */
  const MAX_SENT = 32 * 1_048_576;

  // These wait until the service closes the connection, so they run at the same time.
  it.concurrent.each([
    ['GET', '/healthz', 200],
    ['HEAD', '/healthz', 200],
    ['GET', '/readyz', 200],
    ['OPTIONS', '/mcp', 401],
    ['PUT', '/healthz', 404],
    ['GET', '/login', 200],
    ['GET', '/docs', 302],
    ['GET', '/docs/quickstart', 200],
    ['GET', '/openapi.json', 200],
    ['GET', '/unknown', 404],
    ['POST', '/logout', 303],
    ['POST', '/mcp', 401],
    ['POST', '/mcp/tokens/create', 401],
    ['GET', '/metrics', 200],
  ])('closes the connection after the response: %s %s', async (method, path, _status) => {
    const to = path === '/metrics' ? metricsUrl : baseUrl;
    for (const expectation of [[], ['Expect: 100-continue']]) {
      const begin = headOf(method, path, CHUNKED, ...expectation);
      const { response, sent } = await sendEndlessly(begin, PART, to);
      expect(response).toMatch(/^HTTP\/1\.1 [2-4]\d\d /);
      expect(response.toLowerCase()).toContain('\r\nconnection: close\r\n');
      expect(sent).toBeLessThan(MAX_SENT);
    }
  });

  it.concurrent.each([
    ['a header of gzip that never ends', '\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\x03', 'a'.repeat(16_384)],
    [
      'blocks of gzip without content',
      '\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03',
      '\x00\x00\x00\xff\xff'.repeat(3_000),
    ],
  ])('is limited before it is decompressed: %s', async (_what, first, rest) => {
    const begin = headOf('POST', '/session/open', JSON_TYPE, CHUNKED, 'Content-Encoding: gzip');
    const { response, sent } = await sendEndlessly(begin + chunk(first), chunk(rest));
    expect(response).toMatch(/^HTTP\/1\.1 413 /);
    expect(sent).toBeLessThan(MAX_SENT);
  });

  it.concurrent('closes the connection if the rest of a short body does not arrive', async () => {
    const { hostname, port } = new URL(baseUrl);
    const socket = connect(Number(port), hostname);
    socket.write(headOf('POST', '/mcp/tokens/create', 'Content-Length: 60000'));
    const drip = setInterval(() => socket.write('x'), 50);
    let response = '';
    socket.on('data', (bytes) => (response += String(bytes))).on('error', () => undefined);
    await new Promise((resolve) => socket.once('close', resolve));
    clearInterval(drip);
    expect(response).toMatch(/^HTTP\/1\.1 401 /);
    expect(socket.bytesWritten).toBeLessThan(1_000);
  });

  it.concurrent('keeps the connection after a short body', async () => {
    const { hostname, port } = new URL(baseUrl);
    const socket = connect(Number(port), hostname);
    socket.write(headOf('GET', '/healthz', 'Content-Length: 5'));
    await once(socket, 'data');
    socket.write(`hello${headOf('GET', '/healthz', 'Connection: close')}`);
    let response = '';
    for await (const bytes of socket) response += String(bytes);
    expect(response).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('A SAML response', () => {
  /** Milliseconds of CPU time, most of them in another thread. Without limits, these responses take seconds to minutes. */
  const XML_LIMIT = 2 * LIMIT;
  /** Characters of the XML: 256 KiB are accepted. */
  const SIZE = 262_000;
  /** The limit of the form, without the rest of a response. */
  const FORM_ROOM = 375_000;
  let owner: Owner;
  let domain: string;
  let id: string;
  let metadata: string;
  let provider: SamlTestProvider;

  beforeAll(async () => {
    provider = await SamlTestProvider.create();
    owner = await newOwner(service);
    domain = await proveDomain(owner, dns);
    id = await addSamlProvider(owner, { metadata_xml: provider.metadata() });
    await owner.visitor.fill(`${SSO_PATH}/${id}/enable`, {});
    metadata = (await owner.visitor.get(`/sso/saml/${id}/metadata`)).text;
    // The first response loads the libraries.
    await (
      await prepare((xml) => xml)
    )();
  });

  /** Begins a login. @returns a function that sends the changed response of the provider and returns the status */
  async function prepare(change: (xml: string) => string): Promise<() => Promise<number>> {
    const visitor = new Visitor({ baseUrl });
    const email = `somebody@${domain}`;
    const url = providerUrl(await visitor.fill('/login', { step: 'address', email }));
    const form = await provider.respondTo(url, metadata, { nameId: 'somebody', email });
    const body = new URLSearchParams({ ...form, SAMLResponse: encode(change(decode(form))) });
    return async () => {
      const headers = { 'x-forwarded-for': visitor.ip };
      const options = { method: 'POST', body, headers, redirect: 'manual' } as const;
      return (await fetch(`${baseUrl}/sso/saml/${id}`, options)).status;
    };
  }

  const PLACES: Readonly<Record<string, string>> = {
    'in an attribute': '</saml:AttributeValue>',
    'in the assertion': '</saml:Assertion>',
    'in the signed information': '</ds:SignedInfo>',
    'in the signature': '</ds:Signature>',
    'outside the assertion': '</samlp:Response>',
  };
  const KINDS: Readonly<Record<string, string | ((index: number) => string)>> = {
    comments: '<!---->',
    'processing instructions': '<?a?>',
    'CDATA sections': '<![CDATA[]]>',
    'CDATA sections with text between': '<![CDATA[a]]>a',
    'comments with text between': '<!---->a',
    elements: '<a/>',
    'elements with text between': '<a/>a',
    'elements with attributes': '<a b="c"/>',
    levels: '<a>',
    namespaces: (index) => `<a xmlns:n${index}="u"/>`,
    'entity references': '&amp;',
    'character references': '&#13;',
    text: 'a',
    'line breaks': '\r\n',
    certificates: '<ds:X509Certificate>AAAA</ds:X509Certificate>',
    transforms: '<ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/>',
  };

  /** Returns as many as a response may have whose form, with symbols of base64 escaped, is within the limit. */
  function asManyAsFit(part: string | ((index: number) => string)): string {
    const many = filled('', part, '', SIZE - 8_000).toString();
    // Which symbols there are depends on what precedes the text.
    const lengths = ['', ' ', '  '].map((before) => encodeURIComponent(encode(before + many)).length);
    return filled('', part, '', many.length * Math.min(1, FORM_ROOM / Math.max(...lengths))).toString();
  }

  it.each(Object.entries(KINDS))('takes little CPU time with %s, wherever they are', async (_what, part) => {
    const slow: string[] = [];
    for (const [place, end] of Object.entries(PLACES)) {
      const many = asManyAsFit(part);
      let status = 0;
      const least = await leastTime(async () => {
        const send = await prepare((xml) => xml.replace(end, `${many}${end}`));
        status = await send();
      }, XML_LIMIT);
      // Content that the signature does not cover makes no difference, unless there is too much of it.
      if (least > XML_LIMIT * scale || ![303, 403].includes(status))
        slow.push(`${place}: ${status}, ${Math.round(least)} ms`);
    }
    expect(slow).toEqual([]);
  });

  it.each<[string, (xml: string) => string]>([
    ['a document type', (xml) => `<!DOCTYPE a [${'<!ENTITY b "c">'.repeat(16_000)}]>${xml}`],
    ['spaces before it', (xml) => ' '.repeat(SIZE - 8_000) + xml],
    [
      'a long list of prefixes',
      (xml) =>
        xml.replace(
          /(<ds:Transform Algorithm="[^"]*exc-c14n#")\/>/,
          `$1><ec:InclusiveNamespaces xmlns:ec="http://www.w3.org/2001/10/xml-exc-c14n#" PrefixList="${'a '.repeat(120_000)}"/></ds:Transform>`,
        ),
    ],
    [
      'a long attribute',
      (xml) => xml.replace('<samlp:Response', `<samlp:Response a="${'&lt;'.repeat(60_000)}"`),
    ],
    [
      'many attributes',
      (xml) =>
        xml.replace(
          '<samlp:Response',
          `<samlp:Response ${filled('', (n) => `a${n}="" `, '', SIZE - 8_000).toString()}`,
        ),
    ],
    [
      'many namespaces in one element',
      (xml) =>
        xml.replace(
          '<samlp:Response',
          `<samlp:Response ${filled('', (n) => `xmlns:a${n}="u" `, '', SIZE - 8_000).toString()}`,
        ),
    ],
    [
      'a long signature',
      (xml) => xml.replace('<ds:SignatureValue>', `<ds:SignatureValue>${'A'.repeat(SIZE - 8_000)}`),
    ],
  ])('takes little CPU time with %s', async (_what, change) => {
    let status = 0;
    const least = await leastTime(async () => {
      const send = await prepare(change);
      status = await send();
    }, XML_LIMIT);
    expect([303, 403]).toContain(status);
    expect(least).toBeLessThan(XML_LIMIT * scale);
  });

  it.each<[string, string]>([
    ['elements', '<a/>'.repeat(440)],
    ['CDATA sections', '<![CDATA[a]]>'.repeat(1_400)],
    ['a long text', '&amp;'.repeat(50_000)],
    ['comments', '<!---->'.repeat(30_000)],
  ])('leaves the event loop free: 20 at the same time, with as many %s as possible', async (_what, many) => {
    const end = '</saml:AttributeValue>';
    const sends: (() => Promise<number>)[] = [];
    while (sends.length < 20) sends.push(await prepare((xml) => xml.replace(end, `${many}${end}`)));
    await expectFreeEventLoop(sends, 403);
  });

  it('leaves the event loop free: 20 passwords at the same time', async () => {
    const send = async (): Promise<number> => {
      const visitor = new Visitor({ baseUrl });
      return (await visitor.logIn('nobody@example.com', 'wrong-password')).status;
    };
    const status = await send();
    await expectFreeEventLoop(Array(20).fill(send) as (typeof send)[], status);
  });

  it('leaves the event loop free: 20 documents with metadata at the same time', async () => {
    const metadata_xml = provider.metadata().replace('</md:EntityDescriptor>', `${' '.repeat(250_000)}$&`);
    const send = async (): Promise<number> => {
      const page = owner.visitor.copy();
      return (await page.submit(`${SSO_PATH}/${id}/change`, { name: 'Changed', metadata_xml })).status;
    };
    const before = await send();
    await expectFreeEventLoop(Array(20).fill(send) as (typeof send)[], before);
  });
});

describe('The heap', () => {
  const SIZE = 200_000;
  const COUNT = 100;

  let reports = 0;

  /** Returns the bytes that are left when the young generation, or all of the heap, has been collected. */
  async function bytesAfter(signal: 'SIGUSR2' | 'SIGWINCH'): Promise<number> {
    reports += 1;
    program.signal(signal);
    const [, bytes] = await program.waitForErrors(new RegExp(`^report ${reports}: (\\d+)$`, 'm'));
    return Number(bytes);
  }

  it.each([
    ['a request of a client without credentials', '/session/open', 'none', ''],
    ['a request of an API client', '/mcp/tokens/create', 'basic', ''],
    ['a body that is not JSON', '/session/open', 'none', '}'],
  ])('does not keep %s', async (_what, path, credentials, rest) => {
    const body = JSON.stringify({ large: 'x'.repeat(SIZE) }) + rest;
    const headers = { ...headersOf[credentials], 'content-type': 'application/json' };
    const send = async (count: number) => {
      for (let sent = 0; sent < count; sent += 1) {
        const response = await fetch(`${baseUrl}${path}`, { method: 'POST', body, headers });
        expect(response.status).toBe(400);
        await response.text();
      }
    };
    await send(20);
    const before = await bytesAfter('SIGWINCH');
    await send(COUNT);
    // Objects of a request become garbage in the young generation.
    expect((await bytesAfter('SIGUSR2')) - before).toBeLessThan((COUNT * SIZE) / 2);
  });

  it('does not keep requests that arrive at the same time', async () => {
    const headers = { ...headersOf['basic'], 'content-type': 'application/json' };
    const send = (count: number) =>
      Promise.all(
        Array.from({ length: 20 }, async () => {
          for (let sent = 0; sent < count; sent += 20) {
            const body = JSON.stringify({ external_user_id: 'user-1', expires_in: 60 });
            const response = await fetch(`${baseUrl}/mcp/tokens/create`, { method: 'POST', body, headers });
            expect(response.status).toBe(200);
            await response.text();
          }
        }),
      );
    await send(2_000);
    // A request and its response have about 17 kB. Node.js 20 keeps a quarter of it, Node.js 24 less than 1 kB. It is more if many
    // requests are in progress when the young generation is collected, but not in each of three rounds.
    let least = Infinity;
    for (let round = 0; round < 3 && least >= 2_000 * 6_000; round += 1) {
      const before = await bytesAfter('SIGWINCH');
      await send(2_000);
      least = Math.min(least, (await bytesAfter('SIGUSR2')) - before);
    }
    expect(least).toBeLessThan(2_000 * 6_000);
  });

  it('does not keep large bodies until the old generation is collected', async () => {
    const buffers = async (): Promise<number> => {
      const [, bytes] = /^nodejs_external_memory_bytes (\S+)/m.exec(await (await fetch(metricsUrl)).text())!;
      return Number(bytes);
    };
    const body = `a=${'b'.repeat(390_000)}`;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const send = () =>
      fetch(`${baseUrl}/sso/saml/${randomUUID()}`, { method: 'POST', body, headers, redirect: 'manual' });
    const before = await buffers();
    let most = 0;
    for (let round = 0; round < 6; round += 1) {
      await Promise.all(Array.from({ length: 20 }, send));
      most = Math.max(most, (await buffers()) - before);
    }
    expect(most).toBeLessThan(5 * body.length);
  });
});
