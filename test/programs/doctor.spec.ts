import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '../../src/infrastructure/database/index.js';
import { COMMAND_TIMEOUT, Commands } from '../support/programs/commands.js';
import { cloneDatabase, type TestDatabase } from '../support/database/database.js';
import { Program } from '../support/programs/program.js';
import { rememberSecret } from '../support/runner/run-directory.js';

interface Finding {
  readonly check: string;
  readonly status: string;
  readonly finding: string;
  readonly remedy?: string;
}

/** Node.js options of a process whose clock is a minute ahead. */
const CLOCK_AHEAD = `--import=data:text/javascript,${encodeURIComponent(
  'const { now } = Date; Date.now = () => now() + 60_000;',
)}`;

const key = (): string => randomBytes(32).toString('base64');

let folder: string;
let database: TestDatabase;
let closed: Server;
let environment: Record<string, string>;
let commands: Commands;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'doctor-'));
  database = await cloneDatabase({ empty: true });
  // A port on which nothing replies.
  closed = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  environment = {
    DATABASE_URL: database.url,
    DATA_DIR: join(folder, 'data'),
    SECRET_PEPPER: key(),
    KEY_ENCRYPTION_KEY: key(),
  };
  rememberSecret(environment['SECRET_PEPPER'] ?? '', environment['KEY_ENCRYPTION_KEY'] ?? '');
  commands = new Commands(environment);
});
afterAll(async () => {
  await Program.endAll();
  await database.drop();
  closed.close();
});

async function doctor(
  more: Record<string, string> = {},
): Promise<{ code: number | null; of: (check: string) => Finding | undefined; checks: string[] }> {
  const { code, output, errors } = await commands.runWith(more, 'doctor');
  expect(errors).toBe('');
  const findings = JSON.parse(output) as Finding[];
  for (const { status, remedy } of findings) expect(remedy !== undefined).toBe(status !== 'ok');
  return {
    code,
    checks: findings.map(({ check, status }) => `${check}: ${status}`),
    of: (check) => findings.find((finding) => finding.check === check),
  };
}

describe('mcs-admin doctor', () => {
  it(
    'finds what is wrong, leaves it as it is, and says what to do',
    async () => {
      const empty = await doctor();
      expect(empty.code).toBe(1);
      expect(empty.of('migrations')).toEqual({
        check: 'migrations',
        status: 'failed',
        finding: expect.stringMatching(/^These migrations did not run: DaysInRows1790000000101/),
        remedy: 'Run "mcs-admin migrate".',
      });
      expect(await database.query(`SELECT FROM pg_class WHERE relname = 'schema_migration'`)).toEqual([]);

      await migrate(database.url);
      const cause = 'canceling statement due to statement timeout';
      await database.query(`INSERT INTO job_failure VALUES ('EmailsJob', '${cause}', now(), now())`);
      const { port } = closed.address() as AddressInfo;
      const broken = await doctor({
        DATABASE_READ_URL: database.url,
        TEXT_MESAGES_PER_DAY: '5',
        REDIS_URL: `redis://127.0.0.1:${port}/0`,
        SMTP_URL: `smtp://127.0.0.1:${port}`,
        WEBHOOK_TARGETS: 'any',
        TWILIO_ACCOUNT_SID: 'AC0',
        TWILIO_AUTH_TOKEN: key(),
        TWILIO_FROM: '+12125550123',
        TWILIO_API_URL: `http://127.0.0.1:${port}`,
        MERCHANT_GATEWAY_URL: `http://127.0.0.1:${port}`,
        MERCHANT_GATEWAY_SECRET: `whsec_${key()}`,
      });
      expect(broken.code).toBe(1);
      expect(broken.checks).toEqual([
        'settings: warning',
        'encryption: ok',
        'data directory: ok',
        'database: ok',
        'role: warning',
        'clock: ok',
        'sessions: ok',
        'read replica: failed',
        'migrations: ok',
        'keys: ok',
        'partitions of request_log: failed',
        'partitions of webhook_event: failed',
        'partitions of mcp_token: failed',
        'background work: warning',
        'single sign-on: ok',
        'audit streams: ok',
        'overdue work: ok',
        'sandbox: ok',
        'redis: failed',
        'mail: failed',
        'text messages: failed',
        'merchant gateway: failed',
      ]);
      expect(broken.of('settings')?.finding).toBe(
        'The environment variable TEXT_MESAGES_PER_DAY is not a setting of this service. Did you mean TEXT_MESSAGES_PER_DAY?',
      );
      expect(broken.of('background work')?.finding).toMatch(
        new RegExp(`^Background work failed .* EmailsJob since \\S+Z, last at \\S+Z: ${cause}\\.$`),
      );
      expect(broken.of('merchant gateway')?.finding).toMatch(
        /^The merchant gateway cannot be used: There was no valid response \(\w+\)\.$/,
      );
      expect(empty.of('merchant gateway')?.finding).toBe(
        'MERCHANT_GATEWAY_URL is not set: sign-in to merchants is not configured in production.',
      );
      expect(broken.of('read replica')).toEqual({
        check: 'read replica',
        status: 'failed',
        finding: 'The server of DATABASE_READ_URL is not a replica. Was it promoted?',
        remedy: 'Check DATABASE_READ_URL and the replication. Until then, queries use the primary.',
      });
      expect(broken.of('role')?.finding).toMatch(/^The role postgres is a superuser/);

      await database.query(
        `INSERT INTO merchant_status (merchant_id, type, status, requested_at, published)
         SELECT id, 'link', 'UP', now() - interval '2 hours', 0 FROM merchant LIMIT 1`,
      );
      await mkdir(join(folder, 'data', 'request-log'), { recursive: true });
      await writeFile(join(folder, 'data', 'request-log', 'a.ndjson.refused'), '{}');
      const silent = await doctor();
      expect(silent.of('overdue work')?.finding).toBe(
        'Background work is overdue: merchant_status_events (2 hours).',
      );
      expect(silent.of('data directory')).toMatchObject({
        status: 'warning',
        finding: expect.stringContaining('could not write 1 files of request log entries'),
      });

      await database.query(`UPDATE schema_migration SET checksum = 'changed' WHERE true`);
      expect((await doctor()).of('migrations')?.finding).toMatch(
        /^The schema is not that of this release: DaysInRows1790000000101/,
      );
      await database.query(`UPDATE schema_migration SET checksum = NULL`);
      const otherKey = await doctor({ KEY_ENCRYPTION_KEY: key() });
      expect(otherKey.of('keys')?.finding).toMatch(/^KEY_ENCRYPTION_KEY is not the key/);
      // A start with migrations would have stored them.
      expect(await database.query('SELECT FROM schema_migration WHERE checksum IS NOT NULL')).toEqual([]);

      const ahead = await commands.inOwnProcess('doctor', undefined, { NODE_OPTIONS: CLOCK_AHEAD });
      expect(ahead.code).toBe(1);
      expect((JSON.parse(ahead.output) as Finding[]).find(({ check }) => check === 'clock')).toEqual({
        check: 'clock',
        status: 'failed',
        finding: expect.stringMatching(/^The clocks .* differ by (?:59|60)\d{3} ms\.$/),
        remedy: 'Synchronize both clocks (NTP).',
      });

      // None of these hosts exists.
      const plain = await doctor({
        DATABASE_URL: 'postgres://user:password@db.invalid/service',
        DATABASE_READ_URL: 'postgres://user:password@replica.invalid/service?sslmode=verify-full',
        REDIS_URL: 'redis://:password@redis.invalid:6379/0',
        SMTP_URL: 'smtp://user:password@mail.invalid:587',
      });
      expect(plain.of('encryption')).toMatchObject({
        status: 'warning',
        finding: expect.stringMatching(/without encryption: DATABASE_URL, REDIS_URL, SMTP_URL\.$/),
      });

      const unreachable = await doctor({
        DATABASE_URL: 'postgres://user:password@127.0.0.1:1/none',
        DATA_DIR: '/dev/null/data',
      });
      expect(unreachable.of('data directory')?.finding).toMatch(
        /^DATA_DIR=\/dev\/null\/data cannot be used \(ENOTDIR: /,
      );
      expect(unreachable.of('database')?.finding).toMatch(/is unreachable \(ECONNREFUSED\)/);
      const insecure = await commands.inOwnProcess('doctor', '', {
        NODE_ENV: 'production',
        PLATFORM_URL: '',
        DASHBOARD_URL: 'http://dashboard.example.com',
        SECRET_PEPPER: Buffer.alloc(32).toString('base64'),
      });
      expect(insecure.code).toBe(1);
      for (const problem of ['PLATFORM_URL is required', 'DASHBOARD_URL must begin', 'SECRET_PEPPER repeats'])
        expect(insecure.errors).toContain(`- ${problem}`);
      const invalid = await commands.inOwnProcess('doctor', '', { NODE_ENV: 'Production' });
      expect(invalid.errors).toMatch(/NODE_ENV must be one of the following values/);
    },
    COMMAND_TIMEOUT,
  );
});
