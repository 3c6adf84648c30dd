import { randomBytes } from 'node:crypto';
import { loadConfiguration, type EncryptionRules } from '../config/index.js';
import '../crypto/index.js';
import '../database/index.js';
import '../http-client/index.js';
import '../http/index.js';
import '../messages/index.js';
import '../redis/index.js';
import '../tracing/index.js';
import { findFurtherProblems } from './further-problems.js';

const key = (): string => randomBytes(32).toString('base64');

const COMPLETE = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://service:password@db.example.com/service',
  SECRET_PEPPER: key(),
  KEY_ENCRYPTION_KEY: key(),
  DASHBOARD_URL: 'https://dashboard.example.com',
  PLATFORM_URL: 'https://api.example.com',
};

/** Returns the first words of each problem, in alphabetical order. */
function problemsOf(changes: Record<string, string>, servesHttp = true): string[] {
  const problems = findFurtherProblems(loadConfiguration({ ...COMPLETE, ...changes }), servesHttp);
  return problems
    .map((problem) => problem.split(/ is required| must begin| repeats| are equal| is not/)[0]!)
    .toSorted();
}

describe('Settings in production', () => {
  it('accepts a complete configuration', () => {
    expect(problemsOf({})).toEqual([]);
  });

  it('reports all problems at once', () => {
    const zeros = Buffer.alloc(32).toString('base64');
    expect(
      problemsOf({
        DATABASE_URL: '',
        SECRET_PEPPER: zeros,
        KEY_ENCRYPTION_KEY: zeros,
        DASHBOARD_URL: 'http://dashboard.example.com',
        PLATFORM_URL: '',
        CONNECTOR_URL: 'http://agents.example.com',
        CAREERS_URL: 'http://careers.example.com',
        WEBHOOK_TARGETS: 'any',
      }),
    ).toEqual([
      'CAREERS_URL',
      'CONNECTOR_URL',
      'DASHBOARD_URL',
      'DATABASE_URL',
      'KEY_ENCRYPTION_KEY',
      'PLATFORM_URL',
      'SECRET_PEPPER',
      'SECRET_PEPPER and KEY_ENCRYPTION_KEY',
      'WEBHOOK_TARGETS=any',
    ]);
  });

  it.each(['SECRET_PEPPER', 'KEY_ENCRYPTION_KEY'])('requires random bytes in %s', (name) => {
    expect(problemsOf({ [name]: '' })).toEqual([name]);
    for (const byte of [0, 1, 0x61, 0xff])
      expect(problemsOf({ [name]: Buffer.alloc(32, byte).toString('base64') })).toEqual([name]);
  });

  it.each<[string, string[]]>([
    ['platform', ['PLATFORM_URL']],
    ['connector', ['PLATFORM_URL']],
    ['dashboard', ['DASHBOARD_URL', 'PLATFORM_URL']],
    ['careers', []],
    ['internal', []],
    ['platform,connector,dashboard,careers', ['DASHBOARD_URL', 'PLATFORM_URL']],
  ])('requires the addresses that the surface %s links to', (surfaces, missing) => {
    expect(problemsOf({ SURFACES: surfaces, DASHBOARD_URL: '', PLATFORM_URL: '' })).toEqual(missing);
  });

  it('requires only the dashboard of a process that serves no HTTP', () => {
    expect(problemsOf({ DASHBOARD_URL: '', PLATFORM_URL: '' }, false)).toEqual(['DASHBOARD_URL']);
  });

  it('refuses the same port for metrics, unless they have other addresses or the process serves no HTTP', () => {
    const same = { PORT: '4000', METRICS_PORT: '4000' };
    expect(problemsOf(same)).toEqual(['METRICS_PORT must differ from PORT, which is also 4000.']);
    expect(problemsOf({ ...same, NODE_ENV: 'development' })).toHaveLength(1);
    expect(problemsOf({ ...same, HOST: '10.0.0.1' })).toEqual([]);
    expect(problemsOf({ ...same, HOST: '10.0.0.1', METRICS_HOST: '0.0.0.0' })).toHaveLength(1);
    expect(problemsOf(same, false)).toEqual([]);
    expect(problemsOf({ PORT: '0', METRICS_PORT: '0' })).toEqual([]);
  });

  it('accepts http only if the address and HOST are of this machine', () => {
    const local = { DASHBOARD_URL: 'http://127.0.0.1:3000', PLATFORM_URL: 'http://localhost:3000' };
    expect(problemsOf(local)).toEqual(['DASHBOARD_URL', 'PLATFORM_URL']);
    expect(problemsOf({ ...local, HOST: '0.0.0.0' })).toEqual(['DASHBOARD_URL', 'PLATFORM_URL']);
    expect(problemsOf({ ...local, HOST: '127.0.0.1' })).toEqual([]);
    expect(problemsOf({ ...local, HOST: '::1', CAREERS_URL: 'http://[::1]:3000' })).toEqual([]);
    expect(problemsOf({ HOST: '127.0.0.1', DASHBOARD_URL: 'http://dashboard.example.com' })).toEqual([
      'DASHBOARD_URL',
    ]);
  });
});

describe('unencryptedSettings', () => {
  const db = 'postgres://user:password@';

  it.each<[string, string, boolean]>([
    ['DATABASE_URL', `${db}db.example.com/service`, true],
    ['DATABASE_URL', `${db}db.example.com/service?sslmode=disable`, true],
    ['DATABASE_URL', `${db}db.example.com/service?sslmode=verify-full`, false],
    ['DATABASE_URL', `${db}db.example.com/service?sslmode=no-verify`, false],
    ['DATABASE_URL', `${db}db.example.com/service?ssl=true`, false],
    ['DATABASE_URL', `${db}localhost/service`, false],
    ['DATABASE_URL', `${db}127.0.0.2/service`, false],
    ['DATABASE_URL', `${db}[::1]/service`, false],
    ['DATABASE_URL', `${db}[0:0:0:0:0:0:0:1]/service`, false],
    ['DATABASE_URL', `${db}[::ffff:127.0.0.1]/service`, false],
    ['DATABASE_URL', `${db}[::ffff:10.0.0.7]/service`, true],
    ['DATABASE_URL', `${db}%2Fvar%2Frun%2Fpostgresql/service`, false],
    ['DATABASE_URL', `${db}localhost/service?host=/var/run/postgresql`, false],
    ['DATABASE_URL', `${db}localhost/service?host=db.example.com`, true],
    ['DATABASE_READ_URL', `${db}localhost.example.com/service`, true],
    ['REDIS_URL', 'redis://:password@redis.example.com:6379/0', true],
    ['REDIS_URL', 'rediss://:password@redis.example.com:6379/0', false],
    ['REDIS_URL', 'redis://:password@127.0.0.1:6379/0', false],
    ['SMTP_URL', 'smtp://user:password@mail.example.com:587', true],
    ['SMTP_URL', 'smtp://user:password@mail.example.com:587?requireTLS=true', false],
    ['SMTP_URL', 'smtps://user:password@mail.example.com:465', false],
    ['SMTP_URL', 'smtp://user:password@mail.example.com:465', false],
    ['SMTP_URL', 'smtp://localhost:25', false],
  ])('of %s=%s lists it: %s', (name, value, isListed) => {
    const local = { DATABASE_URL: `${db}localhost/service` };
    const configuration = loadConfiguration({ ...COMPLETE, ...local, [name]: value });
    const settings = configuration
      .classes()
      .flatMap((each) => (configuration.get(each) as Partial<EncryptionRules>).unencryptedSettings?.() ?? []);
    expect(settings).toEqual(isListed ? [name] : []);
  });
});
