import { randomBytes } from 'node:crypto';
import { DataSource } from 'typeorm';
import { Client, ExpiryJob, migrate, ReadPools } from '../../../src/infrastructure/database/index.js';
import { allowDomain } from '../../support/pages/dashboard-forms.js';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.js';
import { logLines } from '../../support/logs/log-lines.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

/** Defaults that roles and databases have for the sake of other programs. */
const OTHERS: Readonly<Record<string, string>> = {
  DateStyle: 'German',
  IntervalStyle: 'iso_8601',
  TimeZone: 'Asia/Kolkata',
  array_nulls: 'off',
  bytea_output: 'escape',
  client_encoding: 'LATIN1',
  default_transaction_deferrable: 'on',
  default_transaction_isolation: 'serializable',
  extra_float_digits: '-15',
  idle_session_timeout: '1h',
  lock_timeout: '1ms',
  quote_all_identifiers: 'on',
  row_security: 'off',
  search_path: 'nowhere',
  standard_conforming_strings: 'off',
  statement_timeout: '7s',
  transform_null_equals: 'on',
};
const EXPECTED: Readonly<Record<string, string>> = {
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  array_nulls: 'on',
  bytea_output: 'hex',
  client_encoding: 'UTF8',
  default_transaction_deferrable: 'off',
  default_transaction_isolation: 'read committed',
  extra_float_digits: '1',
  idle_session_timeout: '30s',
  lock_timeout: '0',
  quote_all_identifiers: 'off',
  row_security: 'on',
  search_path: 'public, pg_temp',
  standard_conforming_strings: 'on',
  statement_timeout: '10s',
  transform_null_equals: 'off',
};
const SETTINGS = `SELECT json_object_agg(name, current_setting(name) ORDER BY name) AS settings
                    FROM unnest($1::text[]) AS name`;

const suffix = randomBytes(4).toString('hex');
const [OWNER, SERVICE, TENANT] = [`owner_${suffix}`, `service_${suffix}`, `tenant_${suffix}`];
let database: TestDatabase;
let service: TestApp;

const urlOf = (role: string): string =>
  Object.assign(new URL(database.url), { username: role, password: role }).href;

/** The new database gets its schema, and the service runs, with these settings of both roles. */
beforeAll(async () => {
  database = await cloneDatabase({ empty: true });
  for (const role of [OWNER, SERVICE]) {
    await database.query(`CREATE ROLE ${role} LOGIN PASSWORD '${role}'`);
    for (const [name, value] of Object.entries(OTHERS))
      await database.query(`ALTER ROLE ${role} SET ${name} TO '${value}'`);
  }
  await database.query(`ALTER DATABASE ${database.name} OWNER TO ${OWNER}`);
  await migrate(urlOf(OWNER), undefined, { serviceRole: SERVICE });
  service = await startTestApp({ DATABASE_URL: urlOf(SERVICE) }, { backgroundWork: true });
});
afterAll(async () => {
  await service.close();
  await database.query(`DROP OWNED BY ${SERVICE}, ${TENANT}, ${OWNER} CASCADE`);
  await database.query(`ALTER DATABASE ${database.name} OWNER TO CURRENT_USER`);
  await database.query(`DROP ROLE ${OWNER}, ${SERVICE}, ${TENANT}`);
  await database.drop();
});

describe('A role with settings for other programs', () => {
  it('has the settings of the service in its sessions', async () => {
    const names = Object.keys(EXPECTED);
    const [main] = await service.app.get(DataSource).query<{ settings: object }[]>(SETTINGS, [names]);
    expect(main?.settings).toEqual(EXPECTED);
    const pool = service.app.get(ReadPools).open('test', { connections: 1, timeoutMilliseconds: 10_000 });
    const [read] = await pool.query<{ settings: object }>(SETTINGS, [
      [...names, 'default_transaction_read_only', 'jit'],
    ]);
    expect(read?.settings).toEqual({ ...EXPECTED, default_transaction_read_only: 'on', jit: 'off' });
  });

  it('shows every time', async () => {
    const login = await service.login();
    await allowDomain(service, login, 'settings.example.com');
    const created = await service.request('/mcp/tokens/create', {
      as: service.development,
      body: { external_user_id: 'user-1' },
    });
    expect(created.body).toMatchObject({ expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) });
    const { body } = await service.request<{ data: { datetime: string }[] }>(
      '/request-logs?environment=development',
      { login },
    );
    expect(body.data).toHaveLength(1);
    for (const { datetime } of body.data)
      expect(Math.abs(Date.parse(datetime) - Date.now())).toBeLessThan(600_000);
    await service.app.get(ExpiryJob).run();
    expect(logLines().filter(({ level }) => level === 'error')).toEqual([]);
  });

  it.each(["''", '"$user"', 'pg_catalog', 'nowhere, elsewhere', 'another'])(
    'finds the tables in public with the search_path %s',
    async (path) => {
      await database.query(
        `CREATE SCHEMA IF NOT EXISTS another; GRANT USAGE ON SCHEMA another TO ${SERVICE}`,
      );
      await database.query(`ALTER ROLE ${SERVICE} SET search_path TO ${path}`);
      const client = new Client({ connectionString: urlOf(SERVICE) });
      await client.connect();
      const { rows } = await client.query(
        `SELECT to_regclass('session') IS NOT NULL AS found, current_schema() AS schema`,
      );
      await client.end();
      expect(rows).toEqual([{ found: true, schema: 'public' }]);
    },
  );

  it('keeps the role that takes the place of the one that logged in', async () => {
    await database.query(`GRANT ${OWNER} TO ${SERVICE}; ALTER ROLE ${SERVICE} SET role TO ${OWNER}`);
    const client = new Client({ connectionString: urlOf(SERVICE) });
    await client.connect();
    const { rows } = await client.query(
      `SELECT current_user AS "user", current_setting('DateStyle') AS style`,
    );
    await client.end();
    await database.query(`ALTER ROLE ${SERVICE} RESET role; REVOKE ${OWNER} FROM ${SERVICE}`);
    expect(rows).toEqual([{ user: OWNER, style: 'ISO, MDY' }]);
  });

  it('uses the schema of its own if it has one, beside an installation in public', async () => {
    await database.query(`CREATE ROLE ${TENANT} LOGIN PASSWORD '${TENANT}'`);
    await database.query(`CREATE SCHEMA "Tenant-1" AUTHORIZATION ${TENANT}`);
    await database.query(`ALTER ROLE ${TENANT} SET search_path TO 'Tenant-1'`);
    await migrate(urlOf(TENANT));
    await using tenant = await startTestApp({ DATABASE_URL: urlOf(TENANT) });
    const [{ schema } = {}] = await tenant.app
      .get(DataSource)
      .query<{ schema?: string }[]>(
        `SELECT nspname AS schema FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE pg_class.oid = to_regclass('session')`,
      );
    expect(schema).toBe('Tenant-1');
    expect((await tenant.request('/readyz')).status).toBe(200);
  });
});
