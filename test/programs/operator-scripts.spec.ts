/** The scripts and commands that operators run with secrets: no other user of the machine may see them (`ps`). */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { parse } from 'yaml';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/programs/ports.js';
import { describeWithRedis } from '../support/programs/redis-server.js';
import { rememberSecret } from '../support/runner/run-directory.js';

import.meta.jest.setTimeout(60_000);

const ROOT = join(import.meta.dirname, '../..');
const SERVER = process.env.TEST_TEMPLATE_URL ?? '';
const folder = mkdtempSync(join(tmpdir(), 'operator-scripts-'));
const argumentsFile = join(folder, 'arguments');

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Puts a program on the PATH that records its arguments, and then starts the real one. @param more arguments to add */
function recorded(name: string, more = ''): string {
  const real = execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
  const program = join(folder, name);
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$@" >> ${argumentsFile}\nexec ${real} "$@" ${more}\n`);
  chmodSync(program, 0o755);
  return `${folder}:${process.env.PATH}`;
}

const isInstalled = (name: string): boolean => {
  try {
    execFileSync('sh', ['-c', `command -v ${name}`]);
    return true;
  } catch {
    return false;
  }
};

const describeWithPsql = isInstalled('psql') ? describe : describe.skip;

describeWithPsql('deploy/create-database.sh (requires psql)', () => {
  const administrator = `administrator_${randomBytes(4).toString('hex')}`;
  const secret = (): string => `${randomBytes(9).toString('base64')}'"\\$x`;
  const query = async (statement: string, url = SERVER): Promise<Record<string, unknown>[]> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query(statement)).rows;
    } finally {
      await client.end();
    }
  };
  const { hostname, port, username, password } = new URL(SERVER);
  const usual = { PGHOST: decodeURIComponent(hostname), PGPORT: port || '5432' };
  const run = (environment: Record<string, string>) =>
    promisify(execFile)(join(ROOT, 'deploy/create-database.sh'), [], {
      env: { ...usual, ...environment, PATH: recorded('psql') },
    });
  const canConnect = async (user: string, given: string): Promise<boolean> => {
    const client = new pg.Client({
      host: usual.PGHOST,
      port: Number(usual.PGPORT),
      database: 'service',
      user,
      password: given,
    });
    try {
      await client.connect();
      await client.end();
      return true;
    } catch {
      return false;
    }
  };
  const remove = async (): Promise<void> => {
    await query('DROP DATABASE IF EXISTS service');
    await query(`DROP ROLE IF EXISTS service, service_owner`);
  };

  afterEach(remove);

  it.each([
    ['a superuser', false],
    ['an administrator of a managed server, who is no superuser', true],
  ])('creates everything as %s, and can be repeated with other passwords', async (_who, isManaged) => {
    await remove();
    const [first, second] = [1, 2].map(() => ({ OWNER_PASSWORD: secret(), SERVICE_PASSWORD: secret() }));
    for (const each of [first!, second!]) rememberSecret(...Object.values(each));
    const login = { PGUSER: decodeURIComponent(username), PGPASSWORD: decodeURIComponent(password) };
    if (isManaged) {
      const own = randomBytes(9).toString('hex');
      await query(`CREATE ROLE ${administrator} LOGIN CREATEDB CREATEROLE PASSWORD '${own}'`);
      Object.assign(login, { PGUSER: administrator, PGPASSWORD: own });
    }
    try {
      for (const given of [first!, first!, second!]) {
        await run({ ...login, ...given });
        expect(await canConnect('service_owner', given.OWNER_PASSWORD)).toBe(true);
        expect(await canConnect('service', given.SERVICE_PASSWORD)).toBe(true);
      }
      // The administrator of some managed servers has no database called postgres.
      await run({ ...login, ...second!, PGDATABASE: 'template1' });
      const seen = readFileSync(argumentsFile, 'utf8');
      expect(seen).toContain('--dbname=postgres');
      expect(seen).toContain('--dbname=template1');
      for (const each of [first!, second!])
        for (const value of Object.values(each)) expect(seen).not.toContain(value);
      const [{ owner }] = (await query(
        `SELECT pg_get_userbyid(datdba) AS owner FROM pg_database WHERE datname = 'service'`,
      )) as [{ owner: string }];
      expect(owner).toBe('service_owner');
    } finally {
      await remove();
      if (isManaged) await query(`DROP ROLE ${administrator}`);
    }
  });

  it('names the password that is missing', async () => {
    await expect(run({ OWNER_PASSWORD: 'given' })).rejects.toThrow(/SERVICE_PASSWORD/);
  });
});

describeWithRedis('The command of Redis in compose.yaml', () => {
  it('requires the password, which is no argument', async () => {
    const port = await freePort();
    const password = randomBytes(24).toString('hex');
    rememberSecret(password);
    const { services } = parse(readFileSync(join(ROOT, 'compose.yaml'), 'utf8'), { merge: true }) as {
      services: { redis: { command: string[] } };
    };
    // Compose replaces `$$`.
    const [program = '', ...words] = services.redis.command.map((word) => word.replaceAll('$$', '$'));
    const child = spawn(program, words, {
      env: { PATH: recorded('redis-server', `--port ${port} --bind 127.0.0.1`), REDISCLI_AUTH: password },
      stdio: ['ignore', 'ignore', 'inherit'],
      cwd: folder,
    });
    const ask = (given: string, ...command: string[]) =>
      promisify(execFile)('redis-cli', ['-p', String(port), ...command], {
        env: { PATH: process.env.PATH, REDISCLI_AUTH: given },
      }).then(
        ({ stdout, stderr }) => `${stdout}${stderr}`,
        (error: Error) => error.message,
      );
    try {
      await eventually('Redis responds', async () => (await ask(password, 'PING')) === 'PONG\n');
      expect(await ask('', 'PING')).toMatch(/NOAUTH/);
      for (const [name, value] of [
        ['save', ''],
        ['maxmemory', '67108864'],
        ['maxmemory-policy', 'noeviction'],
      ])
        expect(await ask(password, 'CONFIG', 'GET', name!)).toBe(`${name}\n${value}\n`);
      expect(readFileSync(`/proc/${child.pid}/cmdline`, 'utf8')).not.toContain(password);
      expect(readFileSync(argumentsFile, 'utf8')).not.toContain(password);
    } finally {
      // The shell has become Redis.
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
  });
});
