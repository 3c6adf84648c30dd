import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMMAND_TIMEOUT, Commands } from '../support/commands.js';
import { cloneDatabase, type TestDatabase } from '../support/database.js';
import { describeWithPgBouncer, PgBouncer } from '../support/pgbouncer.js';
import { Program, run } from '../support/program.js';
import { rememberSecret } from '../support/run-directory.js';
import { basic } from '../support/test-app.js';

const IGNORED = 'ignore_startup_parameters = statement_timeout, options';
const key = (): string => randomBytes(32).toString('base64');

describeWithPgBouncer('A database behind PgBouncer', () => {
  let database: TestDatabase;
  let environment: Record<string, string>;

  beforeAll(async () => {
    database = await cloneDatabase();
    environment = {
      PORT: '0',
      DATA_DIR: mkdtempSync(join(tmpdir(), 'pgbouncer-data-')),
      SECRET_PEPPER: key(),
      KEY_ENCRYPTION_KEY: key(),
    };
    rememberSecret(environment['SECRET_PEPPER']!, environment['KEY_ENCRYPTION_KEY']!);
  });
  afterAll(async () => {
    await Program.endAll();
    await database.drop();
  });

  it.each([
    [
      'pool_mode = transaction',
      IGNORED,
      'The database is behind a connection pooler that does not keep sessions: prepared statements, session locks and notifications get lost. Use session pooling (pool_mode = session in pgbouncer.ini), or connect to PostgreSQL directly: docs/scaling.md, "PgBouncer".',
    ],
    [
      'pool_mode = statement',
      IGNORED,
      'The database is behind a connection pooler that does not keep sessions: prepared statements, session locks and notifications get lost. Use session pooling (pool_mode = session in pgbouncer.ini), or connect to PostgreSQL directly: docs/scaling.md, "PgBouncer".',
    ],
    [
      'pool_mode = session',
      '',
      'The connection pooler of the database refuses the startup parameter options. Set ignore_startup_parameters = statement_timeout, options in pgbouncer.ini: docs/scaling.md, "PgBouncer".',
    ],
    [
      'pool_mode = session',
      'ignore_startup_parameters = statement_timeout',
      'The connection pooler of the database refuses the startup parameter options. Set ignore_startup_parameters = statement_timeout, options in pgbouncer.ini: docs/scaling.md, "PgBouncer".',
    ],
  ])(
    'is refused with %s and %j',
    async (mode, parameters, sentence) => {
      await using pooler = await PgBouncer.start(database.url, mode, parameters);
      const settings = { ...environment, DATABASE_URL: pooler.url };
      const [main, doctor] = await Promise.all([
        run('main.js', { environment: settings }),
        run('cli/main.js', { arguments: ['doctor'], environment: settings }),
      ]);
      expect([main.code, main.errors]).toEqual([1, `${sentence}\n`]);
      const findings = JSON.parse(doctor.output) as { check: string; status: string; finding: string }[];
      expect(findings.find(({ check }) => check === 'database')).toMatchObject({
        status: 'failed',
        finding: sentence,
      });
    },
    COMMAND_TIMEOUT,
  );

  it(
    'works with session pooling, and doctor says whether the time limits do',
    async () => {
      await using pooler = await PgBouncer.start(database.url, 'pool_mode = session', IGNORED);
      // On a busy machine, 200 requests may wait longer than two seconds for a connection.
      const settings = {
        ...environment,
        DATABASE_URL: pooler.url,
        DATABASE_CONNECT_TIMEOUT_MS: '10000',
      };
      const service = new Program('main.js', { environment: settings });
      const [, baseUrl = ''] = await service.waitForOutput(/Listening on (\S+)\. Doc/);
      const commands = new Commands(settings);
      const created = await commands.run(
        'organization create --name Acme --owner-email ada@example.com --owner-name Ada',
      );
      const { production, dashboard } = JSON.parse(created.output) as {
        production: { client_id: string; secret: string };
        dashboard: { password: string };
      };
      rememberSecret(production.secret, dashboard.password);
      const responses = await Promise.all(
        Array.from({ length: 200 }, (_, index) =>
          fetch(`${baseUrl}/mcp/tokens/create`, {
            method: 'POST',
            headers: {
              authorization: basic({ clientId: production.client_id, secret: production.secret }),
              'content-type': 'application/json',
            },
            body: JSON.stringify({ external_user_id: `user-${index}` }),
          }),
        ),
      );
      expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));

      const finding = async (): Promise<unknown> =>
        (JSON.parse((await commands.run('doctor')).output) as { check: string }[]).find(
          ({ check }) => check === 'sessions',
        );
      expect(await finding()).toMatchObject({
        status: 'warning',
        finding: 'A connection pooler ignores statement_timeout: statements have no time limit.',
      });
      await database.query(`ALTER DATABASE ${database.name} SET statement_timeout = '10s'`);
      service.signal('SIGTERM');
      await service.ended;
      await using another = await PgBouncer.start(database.url, 'pool_mode = session', IGNORED);
      const limited = await run('cli/main.js', {
        arguments: ['doctor'],
        environment: { ...settings, DATABASE_URL: another.url },
      });
      expect(JSON.parse(limited.output)).toContainEqual(
        expect.objectContaining({ check: 'sessions', status: 'ok' }),
      );
    },
    COMMAND_TIMEOUT,
  );
});
