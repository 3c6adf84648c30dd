import { randomBytes } from 'node:crypto';
import pg from 'pg';
import {
  checkDatabase,
  DailyPartitions,
  ExpiryJob,
  migrate,
} from '../../../src/infrastructure/database/index.js';
import { DAY, MINUTE } from '../../../src/infrastructure/time/index.js';
import { moveClock } from '../../support/clock.js';
import { allowDomain } from '../../support/pages/dashboard-forms.js';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.js';
import { erasuresOf, newUser } from '../../support/merchants/erasures.js';
import { eventually } from '../../support/eventually.js';
import { logLines } from '../../support/logs/log-lines.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

const suffix = randomBytes(4).toString('hex');
const [OWNER, SERVICE] = [`owner_${suffix}`, `Service-${suffix}`];

let database: TestDatabase;
let service: TestApp;
let connection: pg.Client;

/** Returns the URL of the database for a role whose password is its name. */
const urlOf = (role: string): string =>
  Object.assign(new URL(database.url), { username: encodeURIComponent(role), password: role }).href;

beforeAll(async () => {
  database = await cloneDatabase({ empty: true });
  for (const role of [OWNER, SERVICE]) await database.query(`CREATE ROLE "${role}" LOGIN PASSWORD '${role}'`);
  await database.query(`ALTER DATABASE ${database.name} OWNER TO ${OWNER}`);
  await migrate(urlOf(OWNER), undefined, { serviceRole: SERVICE });
  service = await startTestApp({ DATABASE_URL: urlOf(SERVICE) }, { backgroundWork: true });
  connection = new pg.Client({ connectionString: urlOf(SERVICE) });
  await connection.connect();
});
afterAll(async () => {
  await connection.end();
  await service.close();
  await database.query(`DROP OWNED BY "${SERVICE}"`);
  await database.query(`DROP OWNED BY ${OWNER} CASCADE`);
  await database.query(`ALTER DATABASE ${database.name} OWNER TO CURRENT_USER`);
  await database.query(`DROP ROLE ${OWNER}; DROP ROLE "${SERVICE}"`);
  await database.drop();
});

describe('The role of the running service', () => {
  it('has the privileges that the service needs', async () => {
    const login = await service.login();
    await allowDomain(service, login, 'roles.example.com');
    const token = { external_user_id: 'user-1' };
    expect(
      (await service.request('/mcp/tokens/create', { as: service.development, body: token })).status,
    ).toBe(200);
    expect((await service.request('/request-logs?environment=development', { login })).body).toMatchObject({
      data: [{ path: '/mcp/tokens/create' }],
    });
    await service.app.get(ExpiryJob).run();
    expect(logLines().filter(({ level }) => level === 'error')).toEqual([]);
    const [audited] = await database.query(`SELECT count(*)::int FROM audit_log`);
    expect(audited).not.toEqual({ count: 0 });
  });

  it('maintains partitions, and moves rows into them', async () => {
    const partitions = service.app.get(DailyPartitions);
    const later = new Date(Date.now() + 40 * DAY);
    await connection.query(
      `INSERT INTO request_log (client_id, environment, created_at, type, method, status_code, latency_ms)
       VALUES (gen_random_uuid(), 'production', $1, 'request', 'POST', 200, 1)`,
      [later],
    );
    await partitions.rotate('request_log', later, { days: 30 });
    const parts = await partitions.status('request_log');
    expect(parts.at(-1)).toMatchObject({ name: 'request_log_default', entries: 0 });
    const [row] = await connection
      .query(`SELECT tableoid::regclass::text AS name FROM request_log WHERE created_at = $1`, [later])
      .then(({ rows }) => rows);
    expect(row.name).toBe(`request_log_${later.toISOString().slice(0, 10).replaceAll('-', '')}`);
  });

  it('erases users, and renews statistics, which no other role may do', async () => {
    const { erase, progressOf } = erasuresOf(service);
    const user = newUser();
    const body = { type: 'link', external_user_id: user };
    expect((await service.request('/session/create', { as: service.development, body })).status).toBe(200);
    await database.query('ANALYZE session');
    expect((await erase(user)).status).toBe(202);
    using _later = moveClock(service, 2 * MINUTE);
    await eventually('the erasure ends', async () => (await progressOf(user)).body.status === 'finished');
    expect(
      await database.query(`SELECT FROM pg_stats WHERE most_common_vals::text LIKE '%${user}%'`),
    ).toEqual([]);
    const open = await database.query(
      `SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosecdef
          AND has_function_privilege('public', oid, 'EXECUTE')`,
    );
    expect(open).toEqual([]);
  });

  it.each([
    `UPDATE audit_log SET action = 'changed'`,
    'DELETE FROM audit_log',
    'DELETE FROM audit_chain',
    'DELETE FROM data_key',
    'TRUNCATE data_key',
    'DELETE FROM key_check',
    'TRUNCATE audit_log',
    'DROP TABLE audit_log',
    'ALTER TABLE audit_log DISABLE TRIGGER ALL',
    'ALTER TABLE audit_log DISABLE TRIGGER audit_log_append_only',
    'DROP TRIGGER audit_log_append_only ON audit_log',
    'ALTER TABLE audit_log RENAME TO other',
    `ALTER TABLE audit_log OWNER TO "${SERVICE}"`,
    'CREATE RULE changed AS ON INSERT TO audit_log DO INSTEAD NOTHING',
    'CREATE TRIGGER changed BEFORE INSERT ON audit_log FOR EACH ROW EXECUTE FUNCTION refuse_change_of_audit_log()',
    'CREATE OR REPLACE FUNCTION refuse_change_of_audit_log() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$',
    'DROP FUNCTION refuse_change_of_audit_log CASCADE',
    `GRANT UPDATE ON audit_log TO "${SERVICE}"`,
    `SET session_replication_role = 'replica'`,
    `SET ROLE ${OWNER}`,
    `UPDATE schema_migration SET checksum = 'changed'`,
    'CREATE TABLE other ()',
    `SELECT drop_stray_table('request_log', 'audit_log')`,
  ])('cannot run %s', async (statement) => {
    await connection.query('BEGIN');
    const failure: unknown = await connection.query(statement).catch((error: unknown) => error);
    // A warning instead of an error means that the statement had no effect.
    const privileges = await connection
      .query(`ROLLBACK; SELECT has_table_privilege('audit_log', 'UPDATE, DELETE, TRUNCATE, TRIGGER') AS has`)
      .then((results) => (results as unknown as pg.QueryResult[])[1]?.rows[0]);
    expect(privileges).toEqual({ has: false });
    if (!statement.startsWith('GRANT')) {
      expect(failure).toMatchObject({
        message: expect.stringMatching(/^permission denied|^must be owner|is no stray table/),
      });
    }
  });

  it.each([
    [
      'REVOKE SELECT ON schema_migration FROM',
      'lacks privileges (permission denied for table schema_migration). Run',
    ],
    [
      'REVOKE CONNECT ON DATABASE %d FROM',
      'may not connect to the database "%d" (permission denied for database',
    ],
  ])('gets a sentence about what it lacks after %s', async (revoke, sentence) => {
    const statement = `${revoke.replace('%d', database.name)} "${SERVICE}"`;
    await database.query(`${statement}, public`);
    await expect(checkDatabase(urlOf(SERVICE))).rejects.toThrow(
      `The role of DATABASE_URL ${sentence.replace('%d', database.name)}`,
    );
    await database.query(statement.replace('REVOKE', 'GRANT').replace('FROM', 'TO'));
  });

  it('is named if it does not exist', async () => {
    const missing = `missing_${suffix}`;
    await expect(migrate(urlOf(OWNER), undefined, { serviceRole: missing })).rejects.toThrow(
      `The role "${missing}" of DATABASE_URL does not exist. Create it, and run "mcs-admin migrate" again: docs/database.md, "Database roles".`,
    );
  });

  it('cannot migrate, and says what to do', async () => {
    await expect(migrate(urlOf(SERVICE))).resolves.toEqual([]);
    await database.query(
      'DELETE FROM schema_migration WHERE "timestamp" = (SELECT max("timestamp") FROM schema_migration)',
    );
    await expect(migrate(urlOf(SERVICE))).rejects.toThrow(
      /^The role of the database URL may not change the schema \(.*\)\. Set DATABASE_OWNER_URL/,
    );
  });
});
