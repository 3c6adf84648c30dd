import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkDatabase, Client, type SessionSettings } from '../../src/infrastructure/database/index.js';
import { COMMAND_TIMEOUT, Commands } from '../support/programs/commands.js';
import { cloneDatabase, type TestDatabase } from '../support/database/database.js';
import { describeWithPgBouncer, PgBouncer } from '../support/database/pgbouncer.js';
import { Program, run } from '../support/programs/program.js';
import { rememberSecret } from '../support/runner/run-directory.js';
import { basic } from '../support/test-app.js';

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
      'The database is behind a connection pooler that does not keep sessions: prepared statements, session locks and notifications get lost. Use session pooling (pool_mode = session in pgbouncer.ini), or connect to PostgreSQL directly: docs/scaling.md, "PgBouncer".',
    ],
    [
      'pool_mode = statement',
      'The database is behind a connection pooler that does not keep sessions: prepared statements, session locks and notifications get lost. Use session pooling (pool_mode = session in pgbouncer.ini), or connect to PostgreSQL directly: docs/scaling.md, "PgBouncer".',
    ],
  ])(
    'is refused with %s',
    async (mode, sentence) => {
      await using pooler = await PgBouncer.start(database.url, mode);
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
    'works with session pooling, whatever the settings of the role and of its sessions before',
    async () => {
      await database.query(
        `ALTER DATABASE ${database.name} SET "DateStyle" = 'German';
         ALTER DATABASE ${database.name} SET search_path = 'nowhere';
         ALTER DATABASE ${database.name} SET default_transaction_isolation = 'serializable'`,
      );
      await using pooler = await PgBouncer.start(database.url, 'pool_mode = session');
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

      const settingsOf = async (session: SessionSettings): Promise<unknown> => {
        const client = new Client({ connectionString: pooler.url, session });
        await client.connect();
        const { rows } = await client.query(
          `SELECT current_setting('statement_timeout') AS time, current_setting('default_transaction_read_only') AS "readOnly"`,
        );
        await client.end();
        return rows[0];
      };
      expect(await settingsOf({ statement_timeout: '10s', default_transaction_read_only: 'on' })).toEqual({
        time: '10s',
        readOnly: 'on',
      });
      expect(await settingsOf({})).toEqual({ time: '0', readOnly: 'off' });
      await expect(
        checkDatabase(`${pooler.url}?options=-c%20work_mem%3D1MB`, undefined, 60_000),
      ).rejects.toThrow(
        /^The database at 127\.0\.0\.1:\d+ responds, but cannot be used at the moment: unsupported startup parameter.*options \(08P01\)\.$/,
      );
      expect(JSON.parse((await commands.run('doctor')).output)).toContainEqual({
        check: 'sessions',
        status: 'ok',
        finding: 'Every connection is a session of its own.',
      });
    },
    COMMAND_TIMEOUT,
  );
});
