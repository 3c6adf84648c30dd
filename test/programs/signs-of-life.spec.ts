import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { VERSION } from '../../src/infrastructure/project-files/index.js';
import { cloneDatabase, type TestDatabase } from '../support/database/database.js';
import { eventually } from '../support/eventually.js';
import { Program, type Ended } from '../support/programs/program.js';
import { rememberSecret } from '../support/runner/run-directory.js';

import.meta.jest.setTimeout(60_000);

const key = (): string => randomBytes(32).toString('base64');
/** Makes a process fail as nobody expects when it receives SIGUSR2. */
const failing = (statement: string): string =>
  `--import=data:text/javascript,${encodeURIComponent(`process.once('SIGUSR2', () => { ${statement} });`)}`;

let folder: string;
let database: TestDatabase;
let environment: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signs-of-life-'));
  database = await cloneDatabase();
  environment = {
    NODE_ENV: 'production',
    DATABASE_URL: database.url,
    DATA_DIR: join(folder, 'data'),
    SECRET_PEPPER: key(),
    KEY_ENCRYPTION_KEY: key(),
    DASHBOARD_URL: 'https://dashboard.example.com',
    PLATFORM_URL: 'https://api.example.com',
    HOST: '127.0.0.1',
    PORT: '0',
    METRICS_PORT: '0',
  };
  rememberSecret(environment['SECRET_PEPPER'] ?? '', environment['KEY_ENCRYPTION_KEY'] ?? '');
});
afterAll(async () => {
  await Program.endAll();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

const start = (file: string, more: Record<string, string> = {}): Program =>
  new Program(file, { environment: { ...environment, ...more } });

interface Line {
  readonly level: string;
  readonly message: string;
}

/** Returns the log lines of a process. Every line of its output must be one. */
const linesOf = ({ output, errors }: Ended): Line[] =>
  `${output}${errors}`
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);

const messagesOf = (ended: Ended): string[] => linesOf(ended).map(({ message }) => message);

describe('The version', () => {
  it('is in the first log line, the readiness check and the metrics', async () => {
    const service = start('main.js', { BACKGROUND_WORK: 'off' });
    const [, metricsUrl = ''] = await service.waitForOutput(/Metrics: (http[^"]+)/);
    const [, baseUrl = ''] = await service.waitForOutput(/Listening on (\S+)\. /);
    expect(await (await fetch(`${baseUrl}/readyz`)).json()).toMatchObject({ status: 'ok', version: VERSION });
    expect(await (await fetch(metricsUrl)).text()).toContain(`mcs_build_info{version="${VERSION}"} 1\n`);
    service.signal('SIGTERM');
    const ended = await service.ended;
    expect(messagesOf(ended)[0]).toBe(`Starts version ${VERSION} with Node.js ${process.versions.node}.`);
    expect(messagesOf(ended).at(-1)).toBe('Stops: received SIGTERM.');
  });
});

describe('The end of a process', () => {
  const running = async (more: Record<string, string> = {}): Promise<Program> => {
    const worker = start('worker.js', more);
    await worker.waitForOutput(/The background work is running/);
    return worker;
  };

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('has a log line after %s', async (signal) => {
    const worker = await running();
    worker.signal(signal);
    const ended = await worker.ended;
    expect(ended.code).toBe(0);
    expect(messagesOf(ended).at(-1)).toBe(`Stops: received ${signal}.`);
  });

  it('has a log line if a second signal ends it at once', async () => {
    const service = start('main.js', { SHUTDOWN_DELAY_MS: '60000' });
    await service.waitForOutput(/Listening on/);
    service.signal('SIGTERM');
    await service.waitForOutput(/Stops: received SIGTERM/);
    // Sooner, it would be a duplicate of the first one.
    await pause(1_000);
    service.signal('SIGINT');
    const ended = await service.ended;
    expect(ended.code).toBe(1);
    expect(messagesOf(ended).at(-1)).toBe('Exits before it has stopped: received SIGINT, too.');
  });

  it.each([
    ['an exception', 'uncaughtException', (text: string) => `throw new Error(${text})`],
    ['a rejection', 'unhandledRejection', (text: string) => `Promise.reject(new Error(${text}))`],
  ])('has a log line without secrets after %s that nobody expected', async (_what, origin, statement) => {
    const secret = `mcs_live_${'a'.repeat(49)}`;
    rememberSecret(secret);
    // The stack trace contains the program.
    const text = `'planted mcs_live_' + 'a'.repeat(49)`;
    const worker = await running({ NODE_OPTIONS: failing(statement(text)) });
    worker.signal('SIGUSR2');
    const ended = await worker.ended;
    expect(ended.code).toBe(1);
    const { level, message } = linesOf(ended).at(-1)!;
    expect(level).toBe('fatal');
    expect(message).toMatch(
      new RegExp(`^Exits because of an error that nobody expected \\(${origin}\\): Error: planted `),
    );
    expect(message).toContain('\n    at ');
    expect(message).not.toContain(secret);
  });
});

describe('The watchdog of systemd', () => {
  const LISTENER = `
import socket, sys
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(sys.argv[1])
print('bound', flush=True)
while True:
    print(listener.recv(4096).decode(), flush=True)
`;
  let listener: ChildProcess;
  let received: string;

  const messages = (): number => received.split('WATCHDOG=1').length - 1;

  beforeAll(async () => {
    received = '';
    listener = spawn('python3', ['-c', LISTENER, join(folder, 'notify')]);
    listener.stdout?.on('data', (text: Buffer) => (received += text.toString()));
    await eventually('the socket is bound', () => received.includes('bound'));
  });
  afterAll(async () => {
    listener.kill();
    await once(listener, 'exit');
  });

  it('gets messages while the process responds, and none while it hangs', async () => {
    const worker = start('worker.js', {
      NOTIFY_SOCKET: join(folder, 'notify'),
      WATCHDOG_USEC: '600000',
    });
    await worker.waitForOutput(/The background work is running/);
    const before = messages();
    await eventually('more messages arrive', () => messages() >= before + 3);
    worker.signal('SIGSTOP');
    // Those that were on the way.
    await pause(1_000);
    const hanging = messages();
    await pause(2_000);
    expect(messages()).toBe(hanging);
    worker.signal('SIGCONT');
    await eventually('messages arrive again', () => messages() > hanging);
    worker.signal('SIGTERM');
    expect((await worker.ended).code).toBe(0);
  });

  it('gets no messages of a process whose unit has no watchdog', async () => {
    const before = messages();
    const worker = start('worker.js', { NOTIFY_SOCKET: join(folder, 'notify') });
    await worker.waitForOutput(/The background work is running/);
    worker.signal('SIGTERM');
    await worker.ended;
    expect(messages()).toBe(before);
  });
});
