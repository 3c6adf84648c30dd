import { execFile } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { cloneDatabase, type TestDatabase } from '../support/database/database.js';
import { eventually } from '../support/eventually.js';
import { isListening } from '../support/programs/ports.js';
import { Program, run, type Ended } from '../support/programs/program.js';
import { rememberSecret } from '../support/runner/run-directory.js';
import { basic } from '../support/test-app.js';

import.meta.jest.setTimeout(60_000);

const TOKEN = /^mcp_dev_[0-9A-Za-z]{49}$/;
const SECRET = /mcs_(?:dev|live)_[0-9A-Za-z]{49}/;
/** A stack trace, which operators should not see. */
const STACK = /\n\s+at /;

interface Credentials {
  readonly base_url: string;
  readonly development: { readonly client_id: string; readonly secret: string };
  readonly production: { readonly client_id: string; readonly secret: string };
  readonly dashboard: { readonly email: string; readonly password: string };
}

const key = (): string => randomBytes(32).toString('base64');

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'processes-'));
  // When root runs the test, PostgreSQL runs as another user, who must be able to enter.
  await chmod(folder, 0o755);
  return folder;
}

/** Returns a port that no other program gets before it is used: systems choose theirs from 32,768 on. */
async function freePort(): Promise<string> {
  const server = createServer().listen(randomInt(20_000, 32_000), '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return String(port);
}

/** Waits until the program listens, and returns its address. */
async function listening(program: Program): Promise<string> {
  const [, baseUrl = ''] = await program.waitForOutput(/Listening on (\S+)\. Documentation: \1\/docs"?/);
  return baseUrl;
}

/** Opens a connection that the server may close. */
async function connection(port: string): Promise<Socket> {
  const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

async function createToken(baseUrl: string, client: Credentials['development']): Promise<unknown> {
  const response = await fetch(`${baseUrl}/mcp/tokens/create`, {
    method: 'POST',
    headers: {
      authorization: basic({ clientId: client.client_id, secret: client.secret }),
      'content-type': 'application/json',
    },
    body: '{"external_user_id":"user-1"}',
  });
  const { token } = (await response.json()) as { token: string };
  rememberSecret(token);
  return token;
}

/** Expects one sentence for the operator, besides log lines, and exit code 1. */
function expectSentence({ code, errors }: Ended, sentence: RegExp): void {
  const lines = errors.split('\n').filter((line) => line !== '' && !line.startsWith('{"level"'));
  expect(lines).toEqual([expect.stringMatching(sentence)]);
  expect(code).toBe(1);
}

describe('The service with the embedded database', () => {
  let folder: string;
  let data: string;
  let credentials: Credentials;
  let first: Program;
  let second: Program;

  beforeAll(async () => {
    folder = await temporaryFolder();
    data = join(folder, '.data');
  });
  afterAll(async () => {
    await Program.endAll();
    const left = await postmaster().catch(() => undefined);
    if (left && isAlive(left)) {
      process.kill(left, 'SIGQUIT');
      await stopped(left);
    }
    await rm(folder, { recursive: true, force: true });
  });

  const start = (environment: Record<string, string> = {}, file = 'main.js'): Program =>
    new Program(file, { environment: { DATA_DIR: data, PORT: '0', ...environment } });

  const postmaster = async (): Promise<number> =>
    Number.parseInt(await readFile(join(data, 'postgres', 'postmaster.pid'), 'utf8'), 10);

  function isAlive(pid: number): boolean {
    try {
      process.kill(pid, 0);
      return true;
    } catch {
      return false;
    }
  }

  /** Waits until the server has ended, which is shortly after `postmaster.pid` is removed. */
  const stopped = (pid: number): Promise<boolean> =>
    eventually(
      'the database has stopped',
      () => !existsSync(join(data, 'postgres', 'postmaster.pid')) && !isAlive(pid),
    );

  const readCredentials = async (): Promise<Credentials> =>
    JSON.parse(await readFile(join(data, 'credentials.json'), 'utf8')) as Credentials;

  it('creates one organization when two processes start at once, and prints the credentials once', async () => {
    const port = await freePort();
    const programs = [start({ PORT: port }), start()];
    // Tools wait until the service is ready, and then read the file.
    const isReady = (): Promise<boolean> =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ status }) => status === 200,
        () => false,
      );
    while (!(await isReady())) await pause(5);
    expect(existsSync(join(data, 'credentials.json'))).toBe(true);
    const baseUrls = await Promise.all(programs.map(listening));
    expect(programs.filter((program) => SECRET.test(program.output))).toHaveLength(1);
    // Only the process that created the organization prints the credentials.
    [first, second] = programs.toSorted(
      (left, right) => Number(SECRET.test(right.output)) - Number(SECRET.test(left.output)),
    ) as [Program, Program];
    expect(second.output).toContain(`Credentials: ${data}/credentials.json`);

    credentials = await readCredentials();
    const { development, production, dashboard } = credentials;
    rememberSecret(development.secret, production.secret, dashboard.password);
    expect(credentials).toEqual({
      base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      development: {
        client_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        secret: expect.stringMatching(/^mcs_dev_[0-9A-Za-z]{49}$/),
      },
      production: {
        client_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        secret: expect.stringMatching(/^mcs_live_[0-9A-Za-z]{49}$/),
      },
      dashboard: { email: 'owner@example.com', password: expect.stringMatching(/^.{12,}$/) },
    });
    expect(baseUrls).toContain(credentials.base_url);
    expect((await stat(join(data, 'credentials.json'))).mode & 0o777).toBe(0o600);
    expect((await stat(data)).mode & 0o777).toBe(process.getuid?.() === 0 ? 0o710 : 0o700);
    for (const file of ['key-encryption-key', 'secret-pepper']) {
      expect((await stat(join(data, file))).mode & 0o777).toBe(0o600);
    }
    for (const each of [development.client_id, development.secret, production.client_id, production.secret]) {
      expect(first.output).toContain(each);
    }
    expect(first.output).toContain(dashboard.password);
  });

  it('prints a curl command that works', async () => {
    const [command] = await first.waitForOutput(/^curl [\s\S]+?\}'$/m);
    let token: string | undefined;
    try {
      const { stdout } = await promisify(execFile)('sh', ['-c', command]);
      ({ token } = JSON.parse(stdout) as { token?: string });
    } catch (error) {
      // Without curl, send the same request with fetch.
      if (!/curl: (?:command )?not found/.test(String(error))) throw error;
      const [url = ''] = /http:\S+/.exec(command) ?? [];
      const [, user = '', body = ''] = /-u '([^']+)'[\s\S]+-d '([^']+)'/.exec(command) ?? [];
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          authorization: `Basic ${Buffer.from(user).toString('base64')}`,
          'content-type': 'application/json',
        },
        body,
      });
      ({ token } = (await response.json()) as { token?: string });
    }
    expect(token).toMatch(TOKEN);
    rememberSecret(token ?? '');
  });

  it('shares the database with a process on another port, whose address is not in the file', async () => {
    const { base_url: baseUrl } = await readCredentials();
    const third = start();
    expect(await listening(third)).not.toBe(baseUrl);
    expect((await readCredentials()).base_url).toBe(baseUrl);
    third.signal('SIGTERM');
    await third.ended;
    expect(await createToken(await listening(second), credentials.development)).toMatch(TOKEN);
  });

  it('stores the credentials of another database in another file', async () => {
    const other = await cloneDatabase({ empty: true });
    try {
      const before = await readFile(join(data, 'credentials.json'), 'utf8');
      const startOther = async (): Promise<[Program, string]> => {
        const program = start({ DATABASE_URL: other.url });
        return [program, await listening(program)];
      };
      const [creating] = await startOther();
      const [, file = ''] = /They are stored in (\S+):/.exec(creating.output) ?? [];
      expect(file).toMatch(/\/credentials-[\da-f-]{36}\.json$/);
      const own = JSON.parse(await readFile(file, 'utf8')) as Credentials;
      rememberSecret(own.development.secret, own.production.secret, own.dashboard.password);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      creating.signal('SIGTERM');
      await creating.ended;

      const [restarted, baseUrl] = await startOther();
      expect(restarted.output).toContain(`Credentials: ${file}`);
      expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ ...own, base_url: baseUrl });
      expect(await createToken(baseUrl, own.development)).toMatch(TOKEN);
      expect(await readFile(join(data, 'credentials.json'), 'utf8')).toBe(before);
      restarted.signal('SIGTERM');
      await restarted.ended;
    } finally {
      await other.drop();
    }
  });

  it('fails with one sentence if the port is in use, without affecting other processes', async () => {
    const baseUrl = await listening(first);
    const { port } = new URL(baseUrl);
    expectSentence(
      await start({ PORT: port }).ended,
      new RegExp(
        `^PORT=${port} is in use\\. Stop the program that listens there, or set PORT to another port\\.$`,
        'm',
      ),
    );
    expect(await createToken(baseUrl, credentials.development)).toMatch(TOKEN);
  });

  it('exits with 0 on SIGTERM; the database keeps running for other processes and after kill -9', async () => {
    const database = await postmaster();
    second.signal('SIGTERM');
    expect(await second.ended).toMatchObject({ code: 0, errors: '' });
    expect(isAlive(database)).toBe(true);
    first.signal('SIGKILL');
    expect((await first.ended).code).toBeNull();
    expect(isAlive(database)).toBe(true);
  });

  it('keeps its data after kill -9 and prints no secrets again; the last process stops the database', async () => {
    const database = await postmaster();
    const worker = start({}, 'worker.js');
    const service = start();
    const baseUrl = await listening(service);
    await worker.waitForOutput(/^The background work is running\.$/m);
    expect(await postmaster()).toBe(database);
    expect(await createToken(baseUrl, credentials.development)).toMatch(TOKEN);
    expect(await readCredentials()).toEqual({ ...credentials, base_url: baseUrl });

    worker.signal('SIGTERM');
    expect(await worker.ended).toMatchObject({ code: 0, errors: '' });
    expect(isAlive(database)).toBe(true);
    // Ctrl+C sends two signals: one from the terminal and one forwarded by npm.
    service.signal('SIGINT');
    service.signal('SIGINT');
    const ended = await service.ended;
    expect(ended).toMatchObject({ code: 0, errors: '' });
    await stopped(database);
    for (const { output } of [ended, await worker.ended]) {
      expect(output).not.toMatch(SECRET);
      expect(output).not.toContain(credentials.dashboard.password);
    }
  });

  it('keeps its data after an orderly stop, which open connections do not prevent', async () => {
    const service = start();
    expect(await createToken(await listening(service), credentials.production)).toMatch(/^mcp_live_/);
    expect(service.output).not.toMatch(SECRET);
    // An idle connection, and a request that never ends.
    const { port } = new URL(await listening(service));
    const [idle, unfinished] = await Promise.all([connection(port), connection(port)]);
    unfinished.write('POST /apply HTTP/1.1\r\nHost: x\r\nContent-Le');
    service.signal('SIGTERM');
    expect((await service.ended).code).toBe(0);
    idle.destroy();
    unfinished.destroy();
    expect(existsSync(join(data, 'postgres', 'postmaster.pid'))).toBe(false);
  });

  it('stops the database when it is stopped during its start', async () => {
    const service = start();
    const database = await eventually('the database is running', async () => {
      const pid = await postmaster().catch(() => 0);
      return pid > 0 && pid;
    });
    service.signal('SIGTERM');
    expect((await service.ended).code).toBe(0);
    await stopped(database);
  });
});

// Most of these tests wait most of the time, so they run at the same time.
describe('The service with DATABASE_URL', () => {
  const DEMO = '../../scripts/demo.mjs';
  let folder: string;
  /** For tests that need no database of their own. */
  let database: TestDatabase;
  const databases: TestDatabase[] = [];
  const keys = { SECRET_PEPPER: key(), KEY_ENCRYPTION_KEY: key() };

  beforeAll(async () => {
    rememberSecret(...Object.values(keys));
    folder = await temporaryFolder();
    database = await newDatabase();
  });
  afterAll(async () => {
    await Program.endAll();
    for (const each of databases) await each.drop();
    await rm(folder, { recursive: true, force: true });
  });

  async function newDatabase(options?: { empty: boolean }): Promise<TestDatabase> {
    const created = await cloneDatabase(options);
    databases.push(created);
    return created;
  }

  const environment = (more: Record<string, string>): Record<string, string> => ({
    DATA_DIR: join(folder, 'data'),
    PORT: '0',
    DATABASE_URL: database.url,
    ...more,
  });
  const start = (more: Record<string, string>, file = 'main.js'): Promise<Ended> =>
    run(file, { environment: environment(more) });

  it.concurrent(
    'is started by npm run demo with a week of traffic, which keeps the data at the next start',
    async () => {
      const own = await newDatabase({ empty: true });
      const rows = async (): Promise<number[]> => {
        const tables = ['request_log', 'webhook_event', 'webhook_delivery', 'audit_log', 'dashboard_user'];
        const counts = tables.map((table) => own.query(`SELECT count(*)::integer FROM ${table}`));
        return (await Promise.all(counts)).map(([row]) => (row as { count: number }).count);
      };
      const settings = environment({ DATABASE_URL: own.url, DATA_DIR: join(folder, 'demo') });
      const first = new Program(DEMO, { environment: settings });
      const [, email = '', password = ''] = await first.waitForOutput(
        /dashboard .*\n\s+email\s+(\S+)\s+password\s+(\S+)/,
      );
      rememberSecret(password, ...(first.output.match(new RegExp(SECRET, 'g')) ?? []));
      const baseUrl = await listening(first);
      expect(email).toBe('owner@example.com');
      const written = await rows();
      const [entries = 0, events = 0, , audited = 0, users] = written;
      expect({ entries: entries > 3_000, events: events > 500, audited: audited > 120, users }).toEqual({
        entries: true,
        events: true,
        audited: true,
        users: 15,
      });
      const days = await own.query(
        `SELECT count(DISTINCT created_at::date)::integer AS days,
                bool_or(type = 'webhook' AND status_code <> 200) AS "hasFailures" FROM request_log`,
      );
      expect(days).toEqual([{ days: 8, hasFailures: true }]);
      expect((await fetch(`${baseUrl}/readyz`)).status).toBe(200);
      first.signal('SIGTERM');
      expect((await first.ended).code).toBe(0);

      const second = new Program(DEMO, { environment: settings });
      await listening(second);
      expect(await rows()).toEqual(written);
    },
  );

  it.concurrent(
    'starts in production without generating keys or data, and rejects keys that do not match the database',
    async () => {
      const own = await newDatabase();
      const production = {
        DATABASE_URL: own.url,
        DATA_DIR: join(folder, 'production'),
        NODE_ENV: 'production',
        HOST: '127.0.0.1',
        METRICS_PORT: '0',
        DASHBOARD_URL: 'https://dashboard.example.com',
        PLATFORM_URL: 'https://api.example.com',
        ...keys,
      };
      const service = new Program('main.js', { environment: environment(production) });
      const baseUrl = await listening(service);
      expect((await fetch(`${baseUrl}/readyz`)).status).toBe(200);
      // No origin is allowed by default.
      const preflight = await fetch(`${baseUrl}/apply`, {
        method: 'OPTIONS',
        headers: { origin: 'https://careers.example.com', 'access-control-request-method': 'POST' },
      });
      expect([preflight.status, preflight.headers.has('access-control-allow-origin')]).toEqual([405, false]);
      expect(await readdir(join(folder, 'production'))).toEqual([]);
      expect(await own.query('SELECT * FROM organization')).toEqual([]);
      service.signal('SIGTERM');
      const ended = await service.ended;
      expect(ended).toMatchObject({ code: 0, errors: '' });
      const lines = ended.output.trimEnd().split('\n');
      expect(lines.filter((line) => !/^\{"level":"\w+",.*\}$/.test(line))).toEqual([]);
      expect(lines).toContainEqual(expect.stringMatching(/"level":"warn",.*SMTP_URL is not set/));
      expect(lines).toContainEqual(expect.stringMatching(/"level":"warn",.*TWILIO_ACCOUNT_SID is not set/));

      const [otherKey, otherPepper] = await Promise.all([
        start({ ...production, KEY_ENCRYPTION_KEY: key() }),
        start({ ...production, SECRET_PEPPER: key() }),
      ]);
      expectSentence(otherKey, /^KEY_ENCRYPTION_KEY is not the key that this database uses\. Start with/);
      expectSentence(otherPepper, /^SECRET_PEPPER is not the key that this database uses\. Start with/);
    },
  );

  it.concurrent(
    'keeps serving while it reports that it is not ready, until SHUTDOWN_DELAY_MS has passed',
    async () => {
      const service = new Program('main.js', {
        environment: environment({ ...keys, SHUTDOWN_DELAY_MS: '8000' }),
      });
      const baseUrl = await listening(service);
      const agent = new Agent({ keepAlive: true });
      const statusOnKeptConnection = async (): Promise<number | undefined> => {
        const [response] = (await once(get(`${baseUrl}/healthz`, { agent }), 'response')) as [
          IncomingMessage,
        ];
        await response.resume().toArray();
        return response.statusCode;
      };
      expect(await statusOnKeptConnection()).toBe(200);
      const begin = performance.now();
      service.signal('SIGTERM');
      const isReady = async (): Promise<boolean> => (await fetch(`${baseUrl}/readyz`)).status === 200;
      await eventually('it is not ready', async () => !(await isReady()));
      for (let index = 0; index < 3; index += 1) {
        const response = await fetch(`${baseUrl}/healthz`);
        expect([response.status, response.headers.get('connection')]).toEqual([200, 'close']);
      }
      // The connection that has been idle since before the signal was not closed while a request may be on its way.
      expect(Object.values(agent.freeSockets).flat()).toHaveLength(1);
      expect(await statusOnKeptConnection()).toBe(200);
      agent.destroy();
      expect(await service.ended).toMatchObject({ code: 0, errors: '' });
      expect(performance.now() - begin).toBeGreaterThanOrEqual(8_000);
    },
  );

  it.concurrent(
    'serves connections that were idle during the whole delay after it has closed the port',
    async () => {
      const service = new Program('main.js', {
        environment: environment({ ...keys, SHUTDOWN_DELAY_MS: '1000' }),
      });
      const baseUrl = await listening(service);
      const agents = [1, 2].map(() => new Agent({ keepAlive: true }));
      const onKeptConnection = async (agent: Agent): Promise<IncomingMessage> => {
        const [response] = (await once(get(`${baseUrl}/healthz`, { agent }), 'response')) as [
          IncomingMessage,
        ];
        await response.resume().toArray();
        return response;
      };
      for (const agent of agents)
        expect((await onKeptConnection(agent)).headers.connection).toBe('keep-alive');
      service.signal('SIGTERM');
      await eventually('it is not ready', async () => (await fetch(`${baseUrl}/readyz`)).status !== 200);
      // In the last second, a proxy gets no reason to open connections, which could be reset when the port closes.
      expect((await fetch(`${baseUrl}/healthz`)).headers.get('connection')).toBe('keep-alive');
      await eventually('the port is closed', async () => !(await isListening(Number(new URL(baseUrl).port))));
      // The response on the first connection does not end the other one.
      for (const agent of agents) {
        const { statusCode, headers } = await onKeptConnection(agent);
        expect([statusCode, headers.connection]).toEqual([200, 'close']);
      }
      expect(await service.ended).toMatchObject({ code: 0, errors: '' });
      for (const agent of agents) agent.destroy();
    },
  );

  it.concurrent('waits for a database that is not available yet', async () => {
    const own = await newDatabase();
    await own.cutOff();
    const programs = ['main.js', 'worker.js'].map(
      (file) => new Program(file, { environment: environment({ ...keys, DATABASE_URL: own.url }) }),
    );
    try {
      for (const program of programs) {
        await program.waitForOutput(/"level":"warn",.*The database is unavailable .*Retrying for \d\d s/);
      }
    } finally {
      await own.reconnect();
    }
    await Promise.all([
      listening(programs[0]!),
      programs[1]!.waitForOutput(/The background work is running/),
    ]);
    for (const program of programs) program.signal('SIGTERM');
    for (const program of programs) expect(await program.ended).toMatchObject({ code: 0, errors: '' });
  });

  it.concurrent('explains in one sentence why it cannot start', async () => {
    const wrongPassword = Object.assign(new URL(database.url), { password: 'not-the-password' }).href;
    const unavailable = {
      ...keys,
      DATABASE_URL: 'postgres://user:s3cret-word@127.0.0.1:1/service',
      DATABASE_START_TIMEOUT_MS: '1000',
    };
    const [unreachable, refused, worker] = await Promise.all([
      start(unavailable),
      start({ ...keys, DATABASE_URL: wrongPassword }),
      start(unavailable, 'worker.js'),
    ]);
    for (const each of [unreachable, worker]) {
      expectSentence(
        each,
        /^The database at 127\.0\.0\.1:1 is unreachable \(ECONNREFUSED\)\. Is it running, and is DATABASE_URL right\?$/m,
      );
    }
    expectSentence(
      refused,
      /^The database at 127\.0\.0\.1:\d+ refused the user or password of DATABASE_URL\.$/m,
    );
    for (const { output, errors } of [unreachable, refused, worker]) {
      expect(output + errors).not.toMatch(/s3cret-word|not-the-password/);
    }
  });

  const WRONG_SETTINGS: [string, Record<string, string>, RegExp][] = [
    [
      'a name that is not known',
      { HOST: 'foo.invalid' },
      /^HOST=foo\.invalid is not known to this machine\. Set HOST to one of its addresses, or to 0\.0\.0\.0 for all\.$/,
    ],
    [
      'an address of another machine',
      { HOST: '192.0.2.1' },
      /^HOST=192\.0\.2\.1 is not an address of this machine\. Set HOST to/,
    ],
    [
      'a name for metrics that is not known',
      { METRICS_PORT: '0', METRICS_HOST: 'foo.invalid' },
      /^METRICS_HOST=foo\.invalid is not known to this machine\./,
    ],
    [
      'a data directory that cannot be created',
      { DATA_DIR: '/dev/null/data' },
      /^DATA_DIR=\/dev\/null\/data cannot be used \(ENOTDIR: .*\)\. Set DATA_DIR to a directory that this user can create and write to\.$/,
    ],
    [
      'the same without a database',
      { DATA_DIR: '/dev/null/data', DATABASE_URL: '' },
      /^The data directory cannot be created \(.*\)\. Set DATA_DIR to another directory, or set DATABASE_URL/,
    ],
  ];
  it.concurrent.each(WRONG_SETTINGS)('explains %s in one sentence', async (_what, settings, sentence) =>
    expectSentence(await start({ ...keys, ...settings }), sentence),
  );

  it.concurrent('names the role that the database refused', async () => {
    const owner = Object.assign(new URL(database.url), { username: 'owner', password: 'wrong-word' }).href;
    const ended = await start({ ...keys, DATABASE_OWNER_URL: owner });
    expectSentence(ended, /^The database at \S+ refused the user or password of DATABASE_OWNER_URL\.$/m);
  });

  it.concurrent(
    'warns about misspelled settings, and about a clock that differs from that of the database',
    async () => {
      const ahead = 'const { now } = Date; Date.now = () => now() + 300_000;';
      const service = new Program('main.js', {
        environment: environment({
          ...keys,
          DATABSE_POOL_SIZE: '20',
          METRICS_PORT: '0',
          NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(ahead)}`,
        }),
      });
      await listening(service);
      expect(service.output).toMatch(
        /"level":"warn",.*The environment variable DATABSE_POOL_SIZE is not a setting of this service\. Did you mean DATABASE_POOL_SIZE\?/,
      );
      expect(service.output).toMatch(
        /"level":"warn",.*The clock of the database is (?:299|300)\.\d s behind the clock of this machine\. Synchronize both clocks/,
      );
      const [, url = ''] = await service.waitForOutput(/Metrics: (http:\S+\/metrics)/);
      // Values that take longer than a second are in a later response.
      const metrics = await eventually('the metrics are complete', async () => {
        const text = await (await fetch(url)).text();
        return (
          ['database_clock_lead_seconds', 'data_directory_usable', 'data_directory_free_bytes'].every(
            (name) => text.includes(`\nmcs_${name} `),
          ) && text
        );
      });
      expect(metrics).toMatch(/^mcs_database_clock_lead_seconds -(?:299|300)/m);
      expect(metrics).toMatch(/^mcs_data_directory_usable 1$/m);
      expect(Number(/^mcs_data_directory_free_bytes (\S+)$/m.exec(metrics)?.[1])).toBeGreaterThan(0);
      service.signal('SIGTERM');
      await service.ended;
    },
  );

  it.concurrent('reports all missing settings of production at once', async () => {
    const { code, errors } = await run('main.js', {
      environment: {
        NODE_ENV: 'production',
        PORT: 'http',
        SURFACES: 'kitchen',
        KEY_ENCRYPTION_KEY_FILE: join(folder, 'absent'),
        WEBHOOK_TARGETS: 'any',
        DATA_DIR: folder,
      },
    });
    expect(code).toBe(1);
    expect(errors).not.toMatch(STACK);
    const [head, ...problems] = errors.trimEnd().split('\n');
    expect(head).toBe('The configuration is not usable:');
    expect(problems.map((problem) => problem.trim().split(' ')[1]).toSorted()).toEqual([
      'DATABASE_URL',
      'KEY_ENCRYPTION_KEY_FILE',
      'PORT',
      'SECRET_PEPPER',
      'SURFACES',
      'WEBHOOK_TARGETS=any',
    ]);
  });

  it.concurrent('gets its database from npm run demo without DATABASE_URL', async () => {
    const { errors } = await run(DEMO, { environment: { DATA_DIR: '/dev/null/data', DATABASE_URL: '' } });
    expect(errors).toContain('The data directory cannot be created');
  });

  it.concurrent('is not started by npm run demo in production', async () => {
    const { code, errors } = await run(DEMO, { environment: environment({ NODE_ENV: 'production' }) });
    expect({ code, errors }).toEqual({
      code: 1,
      errors: 'The demo writes invented data, so it does not run with NODE_ENV=production.\n',
    });
  });
});
