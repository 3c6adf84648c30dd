/** Programs of the pages and of `examples/`, with responses that are not those of a good day. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../support/programs/program.js';

const ROOT = join(import.meta.dirname, '..', '..');

type Reply = (response: ServerResponse) => void;

let server: Server;
let url: string;
/** What the server does with each request, and when it arrived, in milliseconds. */
let replies: Reply[];
let arrivals: number[];

beforeAll(async () => {
  const listener: RequestListener = (request, response) => {
    request.resume();
    arrivals.push(performance.now());
    const reply = replies.shift() ?? json(500, {});
    reply(response);
  };
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  arrivals = [];
});
afterAll(() => server.close());

const json =
  (status: number, body: object, headers: Record<string, string> = {}): Reply =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const ofProxy =
  (headers: Record<string, string> = {}): Reply =>
  (response) =>
    response.writeHead(503, { 'content-type': 'text/html', ...headers }).end('<h1>Service Unavailable</h1>');
const lost: Reply = (response) => response.destroy();

describe('examples/access-token.mjs', () => {
  const DEVICE = {
    device_code: 'd',
    user_code: 'AAAA-BBBB',
    verification_uri: 'https://dashboard.example.com/device',
    expires_in: 600,
    interval: 1,
  };
  const getToken = () =>
    run(join(ROOT, 'examples/access-token.mjs'), { arguments: [url, 'client'], environment: {} });

  it('polls on while the service is unavailable, and as slowly as it is asked to', async () => {
    replies = [
      json(200, DEVICE),
      json(
        429,
        { error: 'slow_down', error_message: 'Too many requests.', retry_after: 2 },
        { 'retry-after': '2' },
      ),
      json(503, { error: 'temporarily_unavailable', error_message: 'Unavailable.' }),
      ofProxy(),
      lost,
      json(200, { access_token: 'token' }),
    ];
    expect(await getToken()).toMatchObject({ code: 0, output: 'token\n' });
    const pauses = arrivals.slice(2).map((time, index) => time - (arrivals[index + 1] ?? 0));
    expect(pauses.length).toBe(4);
    for (const pause of pauses) expect(pause).toBeGreaterThan(950);
    expect(pauses[0]).toBeGreaterThan(1_950);
  }, 60_000);

  it.each<[string, Reply[], RegExp]>([
    [
      'the user declines',
      [json(200, DEVICE), json(400, { error: 'access_denied', error_message: 'Declined.' })],
      /^Declined\.$/m,
    ],
    ['the address is that of another server', [ofProxy()], /does not respond as the service does/],
    [
      'the client is unknown',
      [json(401, { error: 'invalid_client', error_message: 'Not known.' })],
      /^Not known\.$/m,
    ],
  ])(
    'ends with the reason if %s',
    async (_when, given, reason) => {
      replies = given;
      const { code, errors } = await getToken();
      expect([code, errors]).toEqual([1, expect.stringMatching(reason)]);
      expect(errors).not.toContain('    at ');
    },
    60_000,
  );
});

describe('The program of docs/pagination.md', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'pages-'));
    const page = readFileSync(join(ROOT, 'docs/pagination.md'), 'utf8');
    const [, program = ''] = /```js\n\/\/ all-pages\.mjs\n(.*?)```/s.exec(page) ?? [];
    const print = `for await (const entry of allEntries('${url}/list', 'Bearer x')) console.log(entry);\n`;
    writeFileSync(join(folder, 'print.mjs'), program + print);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('repeats a page after responses of a proxy', async () => {
    const date = new Date(Date.now() + 1_000).toUTCString();
    replies = [
      json(200, { data: [1], next_cursor: 'c' }),
      ofProxy({ 'retry-after': date }),
      json(200, { data: [2], next_cursor: null }),
    ];
    const { code, output, errors } = await run(join(folder, 'print.mjs'));
    expect([code, output, errors]).toEqual([0, '1\n2\n', '']);
    expect((arrivals[2] ?? 0) - (arrivals[1] ?? 0)).toBeGreaterThan(950);
  }, 60_000);
});
