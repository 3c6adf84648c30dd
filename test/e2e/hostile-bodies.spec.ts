import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { IDENTIFY_OPERATION_NAME } from '../../src/modules/detected-accounts/index.js';
import { ApiClientsService } from '../../src/modules/api-clients/index.js';
import { mcpToken } from '../support/agents.js';
import { documentedBodies, type DocumentedBody } from '../support/api-document.js';
import { Program } from '../support/program.js';
import { rememberSecret } from '../support/run-directory.js';
import { issueServiceToken } from '../support/service-tokens.js';
import { basic, startTestApp, type TestApp } from '../support/test-app.js';

/** Milliseconds of CPU time for one request, on a machine that hashes `REFERENCE_BYTES` in `REFERENCE_TIME`; more on a slower one. */
const LIMIT = 150;
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
  service = await startTestApp(keys);
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
  const program = new Program('main.js', {
    environment: {
      ...keys,
      DATABASE_URL: service.database.url,
      DATA_DIR: service.dataDirectory,
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
});

async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return String(port);
}

/** Returns the CPU time that the program has used, in milliseconds. */
async function cpuTime(): Promise<number> {
  const metrics = await (await fetch(metricsUrl)).text();
  return 1_000 * Number(/^process_cpu_seconds_total (\S+)/m.exec(metrics)?.[1]);
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
  let latest = await cpuTime();
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
        // Reading the time twice for each body would take longer than most bodies.
        const before = attempt === 0 ? latest : await cpuTime();
        const response = await fetch(baseUrl + path, { method, headers, body });
        await response.arrayBuffer();
        ({ status } = response);
        latest = await cpuTime();
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
