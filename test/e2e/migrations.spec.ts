import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../src/infrastructure/database/data-source-options.js';
import { checkDatabase, migrate } from '../../src/infrastructure/database/index.js';
import { createIndexConcurrently } from '../../src/infrastructure/database/migrations/concurrent-index.js';
import { MIGRATIONS } from '../../src/infrastructure/database/migrations/index.js';
import { cloneDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

const NAMES = MIGRATIONS.map((Migration) => new Migration().name);
const SOURCES = join(import.meta.dirname, '..', '..', 'src');
/** Names of constraints and indexes that were chosen by hand, not generated with a hash. */
const GIVEN_NAME = /^[a-z][a-z0-9_]*_(?:pkey|fkey|key|check|index)$/;

/** Returns every entity, including those that no module has registered. */
async function allEntities(): Promise<(new () => object)[]> {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.entity.ts'),
  );
  const exported = await Promise.all(
    files.map((file) => import(join(SOURCES, file)) as Promise<Record<string, unknown>>),
  );
  return exported
    .flatMap((file) => Object.values(file))
    .filter((value): value is new () => object => typeof value === 'function');
}

describe('Migrations', () => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeEach(async () => {
    database = await cloneDatabase({ empty: true });
    const entities = await allEntities();
    dataSource = new DataSource({ ...dataSourceOptions({ url: database.url }), entities });
  });
  afterEach(async () => {
    if (dataSource.isInitialized) await dataSource.destroy();
    await database.drop();
  });

  const add = (number: string) =>
    database.query(`INSERT INTO schema_migration ("timestamp", name) VALUES (${number}, 'Other${number}')`);

  const refusal = (names: string): string =>
    `The schema of the database is neither that of this release nor that of version 0.3.0, but has other migrations (${names}): run "npm run cli -- migrate" of version 0.3.0 first`;

  it('create the tables and columns of the entities', async () => {
    expect(await migrate(database.url)).toEqual(NAMES);
    expect(await migrate(database.url)).toEqual([]);

    await dataSource.initialize();
    expect(dataSource.entityMetadatas.length).toBeGreaterThan(5);
    const drift = await dataSource.driver.createSchemaBuilder().log();
    // Entities contain no constraints and indexes.
    const ofColumns = drift.upQueries
      .map(({ query }) => query)
      .filter((query) => !/ DROP CONSTRAINT |^DROP INDEX /.test(query));
    expect(ofColumns).toEqual([]);
  });

  it('run once if processes start concurrently', async () => {
    const done = await Promise.all(Array.from({ length: 4 }, () => migrate(database.url)));
    expect(done.toSorted((left, right) => right.length - left.length)).toEqual([NAMES, [], [], []]);
    expect(await database.query('SELECT count(*)::int FROM schema_migration')).toEqual([
      { count: NAMES.length },
    ]);
  });

  it('are refused if they changed after they ran, and their checksums are stored', async () => {
    await migrate(database.url);
    const stored = await database.query<{ name: string; checksum: string }>(
      'SELECT name, checksum FROM schema_migration ORDER BY "timestamp"',
    );
    expect(stored).toEqual(
      NAMES.map((name) => ({ name, checksum: expect.stringMatching(/^[0-9a-f]{64}$/) })),
    );

    await database.query(
      `UPDATE schema_migration SET checksum = 'of another build' WHERE name = $1`,
      NAMES.slice(0, 1),
    );
    const sentence = `The schema of the database differs from this release: ${NAMES[0]} changed after it ran on this database. Start the release that ran it, or use another database:`;
    await expect(migrate(database.url)).rejects.toThrow(sentence);
    await expect(checkDatabase(database.url)).rejects.toThrow(sentence);

    await database.query('UPDATE schema_migration SET checksum = NULL');
    await checkDatabase(database.url);
    await migrate(database.url);
    expect(await database.query('SELECT name, checksum FROM schema_migration ORDER BY "timestamp"')).toEqual(
      stored,
    );
  });

  it('are refused if another branch added some, but not if a newer release did', async () => {
    await migrate(database.url);
    await add('9790000000001');
    expect(await migrate(database.url)).toEqual([]);
    await checkDatabase(database.url);
    await add('1790000000089');
    const sentence = refusal('Other1790000000089');
    await expect(migrate(database.url)).rejects.toThrow(sentence);
    await expect(checkDatabase(database.url)).rejects.toThrow(sentence);
  });

  // .ci/previous-release migrates a database that the last release itself created and filled.
  it('are refused on a database of an older release, or one that was interrupted while it migrated', async () => {
    await database.query(
      `CREATE TABLE schema_migration (id serial, "timestamp" bigint NOT NULL, name varchar NOT NULL)`,
    );
    await add('1790000000001');
    await expect(migrate(database.url)).rejects.toThrow(refusal('Other1790000000001'));
    for (const number of ['1790000000003', '1790000000050', '1790000000051']) await add(number);
    const sentence = refusal('Other1790000000001 to Other1790000000051');
    await expect(migrate(database.url)).rejects.toThrow(sentence);
    await expect(checkDatabase(database.url)).rejects.toThrow(sentence);
    expect(await database.query(`SELECT FROM pg_class WHERE relname = 'organization'`)).toEqual([]);
  });

  it('leave a new database as it was if the schema cannot be created', async () => {
    await database.query('CREATE TABLE webhook_lane ()');
    await expect(migrate(database.url)).rejects.toThrow('relation "webhook_lane" already exists');
    await database.query('DROP TABLE webhook_lane');
    expect(await migrate(database.url)).toEqual(NAMES);
  });

  it('are required if the process does not run them itself', async () => {
    await expect(checkDatabase(database.url)).rejects.toThrow(
      `The schema of the database is older than this release: ${NAMES.join(', ')} did not run. Run "npm run cli -- migrate" first, or set MIGRATE_ON_START=on.`,
    );
  });

  it('create indexes of large tables without blocking writers, also after an interruption', async () => {
    await migrate(database.url);
    await dataSource.initialize();
    await database.query('DROP INDEX request_log_webhook_index');
    await database.query(`CREATE TABLE request_log_20260131 PARTITION OF request_log
                            FOR VALUES FROM ('2026-01-31T00:00:00Z') TO ('2026-02-01T00:00:00Z')`);
    // An interrupted attempt leaves an invalid index.
    await database.query(
      `CREATE INDEX request_log_20260131_request_log_webhook_index ON request_log_20260131 (id)`,
    );
    await database.query(
      `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'request_log_20260131_request_log_webhook_index'::regclass`,
    );
    const writer = new pg.Client({ connectionString: database.url });
    await writer.connect();
    await writer.query(`BEGIN; LOCK TABLE request_log_default IN ROW EXCLUSIVE MODE`);
    const runner = dataSource.createQueryRunner();
    const creating = createIndexConcurrently(runner, {
      name: 'request_log_webhook_index',
      table: 'request_log',
      definition: `(client_id, environment, created_at, id) WHERE type = 'webhook'`,
    });
    // The migration waits for the open transaction, and other writers do not wait for the migration.
    await eventually('the migration waits', async () => {
      const waiting = await database.query(
        `SELECT FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONCURRENTLY%' AND wait_event_type = 'Lock'`,
      );
      return waiting.length > 0;
    });
    await database.query(`SET statement_timeout = 5000`);
    await database.query(
      `INSERT INTO request_log (client_id, environment, created_at, type, method, status_code, latency_ms)
       VALUES (gen_random_uuid(), 'production', now(), 'webhook', 'POST', 200, 1)`,
    );
    await writer.query('COMMIT');
    await writer.end();
    await creating;
    await runner.release();
    const [index] = await database.query(
      `SELECT indisvalid, (SELECT count(*)::int FROM pg_inherits WHERE inhparent = indexrelid) AS partitions
         FROM pg_index WHERE indexrelid = 'request_log_webhook_index'::regclass`,
    );
    expect(index).toEqual({ indisvalid: true, partitions: 2 });
  });

  it('name every constraint and index', async () => {
    await migrate(database.url);
    // Excludes TypeORM's own table, and names that PostgreSQL chooses: those of partitions and NOT NULL.
    const rows = await database.query<{ name: string }>(
      `SELECT named.table || '.' || named.name AS name
         FROM (SELECT conrelid AS table_id, conrelid::regclass::text AS table, conname AS name
                 FROM pg_constraint WHERE contype <> 'n'
               UNION
               SELECT indrelid, indrelid::regclass::text, index.relname
                 FROM pg_index JOIN pg_class index ON index.oid = indexrelid) named
         JOIN pg_class owner ON owner.oid = named.table_id
        WHERE owner.relnamespace = 'public'::regnamespace AND NOT owner.relispartition
          AND owner.relname <> 'schema_migration'`,
    );
    expect(rows.length).toBeGreaterThan(15);
    expect(rows.filter(({ name }) => !GIVEN_NAME.test(name.split('.')[1] ?? ''))).toEqual([]);
  });

  it('create functions that a new database has, too', () => {
    const schema = readFileSync(join(SOURCES, '..', 'docs', 'schema.sql'), 'utf8');
    const folder = join(SOURCES, 'infrastructure', 'database', 'migrations');
    const sources = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
    const functions = [...sources.join('').matchAll(/FUNCTION \w+[^$]*AS \$\$(.*?)\$\$/gs)];
    expect(functions).not.toEqual([]);
    for (const [, body = ''] of functions) expect(schema).toContain(body);
  });

  it('are ordered by number, and named like their class', () => {
    const numbers = NAMES.map((name) => Number(/\d{13}$/.exec(name)?.[0]));
    expect(numbers).toEqual(numbers.toSorted((left, right) => left - right));
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(NAMES).toEqual(MIGRATIONS.map((Migration) => Migration.name));
  });

  it.each([
    [
      'postgres://user:pass@127.0.0.1:1/none',
      /^The database at 127\.0\.0\.1:1 is unreachable \(ECONNREFUSED\)/,
    ],
    [
      'no such database',
      /^The database server at 127\.0\.0\.1:\d+ has no database "missing"\. Create it first\.$/,
    ],
    ['wrong password', /^The database at 127\.0\.0\.1:\d+ refused the user or password of DATABASE_URL\.$/],
  ])('explain in one sentence why they cannot run: %s', async (which, sentence) => {
    const url = which.startsWith('postgres:') ? new URL(which) : new URL(database.url);
    if (which === 'no such database') url.pathname = '/missing';
    if (which === 'wrong password') url.password = 'wrong';
    await expect(migrate(url.href)).rejects.toThrow(sentence);
  });
});
