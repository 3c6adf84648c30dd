import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { Program, run } from '../support/programs/program.js';
import { rememberSecret } from '../support/runner/run-directory.js';
import { basic } from '../support/test-app.js';
import { Visitor } from '../support/pages/visitor.js';

/*
 * Runs docs/backup.md with pg_dump and pg_restore. They are not part of the embedded PostgreSQL, and must not be older
 * than the server. BACKUP_TEST_SERVER (postgres://…) can name a server of another version.
 */

const TIMEOUT = 120_000;
const SERVER = process.env.BACKUP_TEST_SERVER ?? process.env.TEST_TEMPLATE_URL ?? '';
const PHONE_NUMBER = '+14155552671';
const WITHOUT_MIGRATION = { MIGRATE_ON_START: 'off' };

const skipReason = await findSkipReason();

async function findSkipReason(): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: atServer('postgres') });
  await client.connect();
  const { rows } = await client.query(`SELECT current_setting('server_version_num')::int / 10000 AS major`);
  await client.end();
  try {
    const [, major] = /(\d+)/.exec(execFileSync('pg_dump', ['--version'], { encoding: 'utf8' })) ?? [];
    return Number(major) < rows[0].major
      ? `pg_dump ${major} is older than PostgreSQL ${rows[0].major}`
      : undefined;
  } catch {
    return 'pg_dump is not installed';
  }
}

function atServer(database: string): string {
  return Object.assign(new URL(SERVER), { pathname: `/${database}` }).href;
}

const describeWithPgDump = skipReason === undefined ? describe : describe.skip;

describeWithPgDump(skipReason ? `A restored dump (${skipReason})` : 'A restored dump', () => {
  const names = ['dumped', 'restored'].map((name) => `${name}_${randomBytes(4).toString('hex')}`);
  const [dumped = '', restored = ''] = names.map(atServer);
  const roles: string[] = [];
  const keys = {
    SECRET_PEPPER: randomBytes(32).toString('base64'),
    KEY_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  };
  let folder: string;

  const administer = async (statement: string): Promise<void> => {
    const client = new pg.Client({ connectionString: atServer('postgres') });
    await client.connect();
    await client.query(statement);
    await client.end();
  };

  beforeAll(async () => {
    rememberSecret(...Object.values(keys));
    folder = await mkdtemp(join(tmpdir(), 'backup-'));
    for (const name of names) await administer(`CREATE DATABASE ${name}`);
  });
  afterAll(async () => {
    await Program.endAll();
    for (const name of names) await administer(`DROP DATABASE ${name} WITH (FORCE)`);
    for (const role of roles) await administer(`DROP ROLE ${role}`);
  });

  const environment = (url: string): Record<string, string> => ({
    DATA_DIR: join(folder, 'data'),
    DATABASE_URL: url,
    PORT: '0',
    ...keys,
  });

  async function withService<T>(
    url: string,
    work: (baseUrl: string) => Promise<T>,
    settings: Record<string, string> = {},
  ): Promise<T> {
    const service = new Program('main.js', { environment: { ...environment(url), ...settings } });
    const [, baseUrl = ''] = await service.waitForOutput(/^Listening on (\S+)\./m);
    const result = await work(baseUrl);
    service.signal('SIGTERM');
    expect((await service.ended).code).toBe(0);
    return result;
  }

  const credentials = async () =>
    JSON.parse(await readFile(join(folder, 'data', 'credentials.json'), 'utf8'));

  it(
    'contains all data, and the service decrypts it',
    async () => {
      const post = async (url: string, body: BodyInit, headers = {}): Promise<Record<string, unknown>> => {
        const { client_id: clientId, secret } = (await credentials()).development;
        const authorization = basic({ clientId, secret });
        const response = await fetch(url, { method: 'POST', body, headers: { authorization, ...headers } });
        expect(response.status).toBe(200);
        return (await response.json()) as Record<string, unknown>;
      };

      const token = await withService(dumped, async (baseUrl) => {
        const { dashboard, development } = await credentials();
        rememberSecret(dashboard.password, development.secret);
        // Creates an entry of the audit log.
        await new Visitor({ baseUrl }).logIn(dashboard.email, dashboard.password);
        const body = JSON.stringify({ external_user_id: 'user-1', phone_number: PHONE_NUMBER });
        const response = await post(`${baseUrl}/mcp/tokens/create`, body, {
          'content-type': 'application/json',
        });
        return String(response['token']);
      });
      rememberSecret(token);

      const file = join(folder, 'service.dump');
      const program = promisify(execFile);
      await program('pg_dump', ['--format=custom', `--file=${file}`, dumped]);
      await program('pg_restore', ['--no-owner', '--exit-on-error', `--dbname=${restored}`, file]);

      await withService(restored, async (baseUrl) => {
        const introspected = await post(`${baseUrl}/oauth/introspect`, new URLSearchParams({ token }));
        expect(introspected).toMatchObject({ active: true, sub: 'user-1', phone_number: PHONE_NUMBER });
      });
      const verified = await run('cli/main.js', {
        arguments: ['audit', 'verify'],
        environment: environment(restored),
      });
      expect(verified).toMatchObject({ code: 0, errors: '' });
      expect(JSON.parse(verified.output)).toMatchObject({ intact: true, organizations: [{ entries: 1 }] });
      const { code, output } = await run('cli/main.js', {
        arguments: ['request-log', 'partitions'],
        environment: environment(restored),
      });
      expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('request_log_') });
      const client = new pg.Client({ connectionString: restored });
      await client.connect();
      await expect(client.query(`UPDATE audit_log SET action = 'auth.logout'`)).rejects.toThrow();
      await client.end();
    },
    TIMEOUT,
  );

  it(
    'is made and restored by the owner of the tables if the service runs with another role',
    async () => {
      const suffix = randomBytes(4).toString('hex');
      const [owner, service] = [`owner_${suffix}`, `service_${suffix}`];
      const [from, to] = [`dumped_roles_${suffix}`, `restored_roles_${suffix}`];
      names.push(from, to);
      roles.push(owner, service);
      for (const role of [owner, service]) await administer(`CREATE ROLE ${role} LOGIN PASSWORD '${role}'`);
      for (const database of [from, to]) {
        // Like deploy/create-database.sh.
        await administer(`CREATE DATABASE ${database} OWNER ${owner}`);
        await administer(`REVOKE CONNECT, TEMPORARY ON DATABASE ${database} FROM PUBLIC`);
        await administer(`GRANT CONNECT ON DATABASE ${database} TO ${service}`);
      }
      const urlOf = (role: string, database: string): string =>
        Object.assign(new URL(atServer(database)), { username: role, password: role }).href;
      const migrate = async (database: string): Promise<void> => {
        const given = {
          ...environment(urlOf(service, database)),
          DATABASE_OWNER_URL: urlOf(owner, database),
        };
        expect(await run('cli/main.js', { arguments: ['migrate'], environment: given })).toMatchObject({
          code: 0,
        });
      };
      await migrate(from);
      await rm(join(folder, 'data', 'credentials.json'));
      const { development } = await withService(urlOf(service, from), credentials, WITHOUT_MIGRATION);
      rememberSecret(development.secret);

      const file = join(folder, 'roles.dump');
      const program = promisify(execFile);
      await expect(program('pg_dump', [`--file=${file}`, urlOf(service, from)])).rejects.toThrow(
        /permission denied/,
      );
      await program('pg_dump', ['--format=custom', `--file=${file}`, urlOf(owner, from)]);
      await program('pg_restore', [
        '--no-owner',
        '--no-privileges',
        '--exit-on-error',
        `--dbname=${urlOf(owner, to)}`,
        file,
      ]);
      await migrate(to);
      await withService(
        urlOf(service, to),
        async (baseUrl) => {
          const { status } = await fetch(`${baseUrl}/mcp/tokens/create`, {
            method: 'POST',
            headers: {
              authorization: basic({ clientId: development.client_id, secret: development.secret }),
              'content-type': 'application/json',
            },
            body: '{"external_user_id":"user-1"}',
          });
          expect(status).toBe(200);
        },
        WITHOUT_MIGRATION,
      );
      const client = new pg.Client({ connectionString: urlOf(service, to) });
      await client.connect();
      await expect(client.query(`DELETE FROM audit_log`)).rejects.toThrow(/permission denied/);
      await client.end();
    },
    TIMEOUT,
  );
});
