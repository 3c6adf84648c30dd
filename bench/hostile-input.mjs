/**
 * Measures how long another client waits, and how much the process grows, while strangers send hostile requests: each kind from one
 * connection and from 20, which together send at most 64 MiB. `ONLY=pieces` measures only the kinds whose names contain the word.
 */
import { readFileSync } from 'node:fs';
import { Agent, request as send } from 'node:http';
import { createConnection } from 'node:net';
import { setPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const MIB = 1_048_576;
const TOTAL = 64 * MIB;
const CONNECTIONS = [1, 20];
/** Milliseconds. An unfinished request is closed within a second. */
const TIMEOUT = 6_000;

const json = { 'Content-Type': 'application/json' };
const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
const chunked = { 'Transfer-Encoding': 'chunked' };

function head(method, path, headers = {}) {
  const lines = Object.entries({ Host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n');
}

const piece = (text, extension = '') => `${text.length.toString(16)}${extension}\r\n${text}\r\n`;
/** A request whose chunked body repeats a piece for ever. */
const endless = (method, path, part, headers) => ({
  begin: head(method, path, { ...headers, ...chunked }),
  part,
});
/** A request with a body of known length, repeated on the connection. */
function whole(path, headers, body) {
  const begin = Buffer.from(head('POST', path, { ...headers, 'Content-Length': body.length }));
  return { begin: '', part: Buffer.concat([begin, Buffer.from(body)]) };
}
function filled(begin, part, end, size) {
  return begin + part.repeat(Math.floor((size - begin.length - end.length) / part.length)) + end;
}
/** The largest body without credentials. */
const JSON_SIZE = 262_144;
const FORM_SIZE = 16_384;
const EMPTY_BLOCK = '\x00\x00\x00\xff\xff';
const gzipHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]).toString('latin1');
const LARGE = piece('a'.repeat(16_384));

/** The data that each connection sends: a beginning, and a repeated part. Parts that take time to compute are functions. */
const KINDS = {
  ...Object.fromEntries(
    [
      ['POST', '/session/open', json],
      ['POST', '/oauth/token', form],
      ['POST', '/login', form],
      ['POST', '/apply', { 'Content-Type': 'multipart/form-data; boundary=x' }],
      ['POST', '/mcp', json],
      ['POST', '/events/batch', { 'Content-Type': 'application/x-ndjson' }],
      ['GET', '/healthz', {}],
      ['GET', '/unknown', {}],
    ].map(([method, path, headers]) => [
      `pieces of 1 byte to ${method} ${path}`,
      endless(method, path, piece('a'), headers),
    ]),
  ),
  'pieces of 2 bytes': endless('POST', '/session/open', piece('aa'), json),
  'pieces of 8 bytes': endless('POST', '/session/open', piece('a'.repeat(8)), json),
  'pieces of 16 bytes': endless('POST', '/session/open', piece('a'.repeat(16)), json),
  'pieces with extensions': endless('POST', '/session/open', piece('a', ';b=c'), json),
  'pieces with long extensions': endless(
    'POST',
    '/session/open',
    piece('a', `;b=${'c'.repeat(4_000)}`),
    json,
  ),
  'pieces, then many trailers': {
    begin: `${head('POST', '/session/open', { ...json, ...chunked })}${piece('a')}0\r\n`,
    part: 'a: b\r\n',
  },
  'pieces in pipelined requests': {
    begin: '',
    part: `${head('POST', '/session/open', { ...json, ...chunked })}${piece('a').repeat(500)}0\r\n\r\n`,
  },
  'pieces of few bytes in many pipelined requests': {
    begin: '',
    part: `${head('POST', '/a', chunked)}${piece('a').repeat(12)}0\r\n\r\n`,
  },
  'pieces, compressed': endless('POST', '/session/open', piece('\x00'), {
    ...json,
    'Content-Encoding': 'gzip',
  }),
  ...Object.fromEntries(
    [
      ['GET', '/healthz'],
      ['GET', '/readyz'],
      ['HEAD', '/healthz'],
      ['OPTIONS', '/healthz'],
      ['GET', '/login'],
      ['GET', '/docs'],
      ['GET', '/docs/api'],
      ['GET', '/docs/quickstart'],
      ['GET', '/docs/receivers'],
      ['GET', '/docs/assets/search.json'],
      ['GET', '/openapi.json'],
      ['GET', '/openapi-3.0.json'],
      ['GET', '/openapi.yaml'],
      ['GET', '/unknown'],
      ['PUT', '/healthz'],
      ['GET', '/mcp'],
      ['GET', '/.well-known/oauth-authorization-server'],
      ['GET', '/favicon.ico'],
      ['POST', '/logout'],
      ['POST', '/mcp/tokens/create'],
    ].map(([method, path]) => [`unread body of ${method} ${path}`, endless(method, path, LARGE)]),
  ),
  'unread body of GET /metrics': { ...endless('GET', '/metrics', LARGE), isMetrics: true },
  'unread pieces of GET /metrics': { ...endless('GET', '/metrics', piece('a')), isMetrics: true },
  'unread body of known length': {
    begin: head('GET', '/healthz', { 'Content-Length': 10 * 64 * MIB }),
    part: 'a'.repeat(65_536),
  },
  'a body that is too large': endless('POST', '/session/open', LARGE, json),
  'a body after Expect: 100-continue': endless('GET', '/healthz', LARGE, { Expect: '100-continue' }),
  'a body after an error of HTTP': { begin: 'NO HTTP\r\n\r\n', part: 'a'.repeat(65_536) },
  'pipelined requests': { begin: '', part: head('GET', '/healthz') },
  'pipelined requests for a large page': { begin: '', part: head('GET', '/openapi.json') },
  'large headers': { begin: '', part: head('GET', '/healthz', { a: 'b'.repeat(15_000) }) },
  'a gzip header without end': endless('POST', '/session/open', LARGE, {
    ...json,
    'Content-Encoding': 'gzip',
  }),
  'a gzip name without end': {
    ...endless('POST', '/session/open', LARGE, { ...json, 'Content-Encoding': 'gzip' }),
    first: piece('\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\x03'),
  },
  'empty blocks of gzip': {
    ...endless('POST', '/session/open', piece(EMPTY_BLOCK.repeat(3_000)), {
      ...json,
      'Content-Encoding': 'gzip',
    }),
    first: piece(gzipHeader),
  },
  'empty members of gzip': () =>
    whole(
      '/session/open',
      { ...json, 'Content-Encoding': 'gzip' },
      Buffer.concat(Array(25_000).fill(gzipSync(''))),
    ),
  'compressed bombs, gzip': () =>
    whole('/session/open', { ...json, 'Content-Encoding': 'gzip' }, gzipSync(Buffer.alloc(64 * MIB))),
  'compressed bombs, br': () =>
    whole('/session/open', { ...json, 'Content-Encoding': 'br' }, brotliCompressSync(Buffer.alloc(64 * MIB))),
  'JSON of one string': whole('/session/open', json, filled('{"a":"', 'a', '"}', JSON_SIZE)),
  'JSON of escapes': whole('/session/open', json, filled('{"a":"', '\\u0000', '"}', JSON_SIZE)),
  'JSON of members': whole('/session/open', json, filled('{"a":0', ',"b":0', '}', JSON_SIZE)),
  'JSON of spaces': whole('/session/open', json, filled('{"a":0', ' ', ',}', JSON_SIZE)),
  'JSON, a long identifier': whole(
    '/session/open',
    json,
    filled('{"external_user_id":"', 'a', '"}', JSON_SIZE),
  ),
  'JSON of brackets': whole('/session/open', json, filled('{"a":', '[', '', JSON_SIZE)),
  'forms of fields': whole('/oauth/token', form, filled('a=1', '&a=1', '', FORM_SIZE)),
  'forms of percent signs': whole('/oauth/token', form, filled('client_id=', '%', '', FORM_SIZE)),
  'SAML forms': whole(`/sso/saml/${crypto.randomUUID()}`, form, filled('SAMLResponse=', '%2B', '', 393_216)),
  ...Object.fromEntries(
    ['a', '"', '%22'].map((part) => [
      `forms without a login, kept, of ${part}`,
      whole(
        '/dashboard/single-sign-on/configurations/new',
        { ...form, Cookie: 'browser=a' },
        filled('metadata_xml=', part, '', 393_216),
      ),
    ]),
  ),
  'SAML forms of one value': whole(
    `/sso/saml/${crypto.randomUUID()}`,
    form,
    `RelayState=${'a'.repeat(43)}&${filled('SAMLResponse=', 'a', '', 393_000)}`,
  ),
};

if (isMainThread) await measureAll();
else await attack(workerData);

/** The sender, in a thread of its own. Resolves when all connections are closed or have sent their share. */
async function attack({ kind, port, connections }) {
  prioritize(10);
  const found = KINDS[kind];
  const { begin, part, first = '' } = typeof found === 'function' ? found() : found;
  const bytes = Buffer.from(part, 'latin1');
  const block = Buffer.concat(Array(Math.max(1, Math.floor(262_144 / bytes.length))).fill(bytes));
  const share = TOTAL / connections;
  const one = () =>
    new Promise((resolve) => {
      const socket = createConnection(port, '127.0.0.1');
      const began = performance.now();
      let sent = 0;
      let responded;
      let status = '';
      const result = () =>
        resolve({
          sent,
          status,
          closedAfter: responded && isClosed ? performance.now() - responded : undefined,
        });
      let isClosed = false;
      const timer = setTimeout(() => socket.destroy(), TIMEOUT);
      const fill = () => {
        while (sent < share && !socket.destroyed) {
          sent += block.length;
          if (!socket.write(block.subarray(0, Math.max(1, share - sent + block.length)))) return;
        }
      };
      socket.on('connect', () => {
        socket.write(Buffer.from(begin + first, 'latin1'));
        fill();
      });
      socket.on('drain', fill);
      socket.on('data', (data) => {
        responded ??= performance.now();
        if (status === '') status = data.subarray(9, 12).toString();
      });
      socket.on('error', () => undefined);
      socket.on('close', () => {
        isClosed = performance.now() - began < TIMEOUT - 100;
        clearTimeout(timer);
        result();
      });
    });
  parentPort.postMessage(await Promise.all(Array.from({ length: connections }, one)));
}

/**
 * Strangers and other clients have machines of their own: the service does not wait for their computing. On Linux, this concerns
 * the thread that calls it. Only root may raise a priority.
 */
function prioritize(niceness) {
  try {
    setPriority(0, niceness);
  } catch {
    // Without it, waits include those of the measurement for a CPU.
  }
}

/** Returns the CPU time of the event loop in milliseconds: on a busy machine, waits include the work of others. */
function mainThreadOf(pid) {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

async function measureAll() {
  const { reportTable } = await import('./support/report.mjs');
  const { freePort } = await import('./support/processes.mjs');
  const { memoryOf } = await import('./support/usage.mjs');
  const { basic, openWorkbench } = await import('./support/workbench.mjs');
  const bench = await openWorkbench();
  const rows = [];
  try {
    const metricsPort = await freePort();
    const service = await bench.service({
      METRICS_PORT: String(metricsPort),
      SESSION_OPENS_PER_MINUTE: '100000000',
      APPLICATIONS_PER_HOUR: '100000000',
      LOG_LEVEL: 'error',
    });
    const port = Number(new URL(service.baseUrl).port);
    const agent = new Agent({ keepAlive: true });
    const token = JSON.stringify({ external_user_id: 'somebody else' });
    const probes = [
      { method: 'GET', path: '/healthz' },
      {
        method: 'POST',
        path: '/mcp/tokens/create',
        headers: { ...json, authorization: basic(service.credentials.development) },
        body: token,
      },
    ];
    const once = ({ body, ...options }) =>
      new Promise((resolve, reject) => {
        const began = performance.now();
        send({ host: '127.0.0.1', port, agent, ...options }, (response) => {
          response.resume().on('end', () => resolve(performance.now() - began));
        })
          .on('error', reject)
          .end(body);
      });
    const observe = () => {
      let isRunning = true;
      let [slowest, busiest, highest] = [0, 0, 0];
      const running = probes.map(async (probe) => {
        while (isRunning) {
          const before = mainThreadOf(service.pid);
          slowest = Math.max(slowest, await once(probe));
          busiest = Math.max(busiest, mainThreadOf(service.pid) - before);
          await pause(3);
        }
      });
      const watching = setInterval(() => (highest = Math.max(highest, memoryOf(service.pid))), 5);
      return async () => {
        isRunning = false;
        await Promise.all(running);
        clearInterval(watching);
        return { slowest, busiest, highest };
      };
    };
    prioritize(-10);
    const measure = async (kind, connections) => {
      const before = memoryOf(service.pid);
      const stop = observe();
      await pause(200);
      let results = [];
      if (kind)
        results = await new Promise((resolve, reject) => {
          const workerPort = KINDS[kind].isMetrics ? metricsPort : port;
          const worker = new Worker(new URL(import.meta.url), {
            execArgv: [],
            workerData: { kind, port: workerPort, connections },
          });
          worker.once('message', resolve).once('error', reject);
        });
      else await pause(2_000);
      await pause(500);
      const { slowest, busiest, highest } = await stop();
      const closed = results.map(({ closedAfter }) => closedAfter).filter((each) => each !== undefined);
      const statuses = [...new Set(results.map(({ status }) => status || 'none'))].join(', ');
      const sent = results.reduce((sum, each) => sum + each.sent, 0) / MIB;
      rows.push([
        kind ?? 'nothing',
        connections,
        `${slowest.toFixed(0)} ms`,
        `${busiest.toFixed(0)} ms`,
        `${Math.max(0, highest - before).toFixed(0)} MB`,
        statuses,
        kind ? `${sent.toFixed(1)} MiB` : '',
        closed.length > 0 ? `${Math.max(...closed).toFixed(0)} ms` : '',
      ]);
      console.error(rows.at(-1).join(' | '));
    };
    for (let round = 0; round < 300; round += 1) for (const probe of probes) await once(probe);
    await measure(undefined, 0);
    for (const kind of Object.keys(KINDS).filter((each) => each.includes(process.env.ONLY ?? '')))
      for (const connections of CONNECTIONS) await measure(kind, connections);
    agent.destroy();
    reportTable('hostile-input', {
      title: 'Hostile requests of strangers: what another client and the process notice',
      goal: 'no other client waits longer than 100 ms, the process grows by less than 60 MB, and an unfinished request is closed within a second after its response',
      columns: [
        'requests',
        'connections',
        'longest wait',
        'busy meanwhile',
        'growth',
        'status',
        'sent',
        'closed after',
      ],
      rows,
      keep: process.env.ONLY === undefined,
    });
  } finally {
    await bench.close();
  }
}
