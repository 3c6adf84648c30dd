import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../../src/infrastructure/database/data-source-options.js';
import { advisoryLockKey, checkDatabase, migrate } from '../../../src/infrastructure/database/index.js';
import { KeyedQueue } from '../../../src/infrastructure/queues/index.js';
import { createIndexConcurrently } from '../../../src/infrastructure/database/migrations/concurrent-index.js';
import { changeSchema } from '../../../src/infrastructure/database/migrations/schema-change.js';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.js';
import { eventually } from '../../support/eventually.js';

const SOURCES = join(import.meta.dirname, '..', '..', '..', 'src');
const FOLDER = join(SOURCES, 'infrastructure', 'database', 'migrations');
const FILES = readdirSync(FOLDER)
  .filter((file) => /^\d/.test(file))
  .toSorted();
/** The names of their classes. */
const NAMES = FILES.map((file) =>
  String(/export class (\w+)/.exec(readFileSync(join(FOLDER, file), 'utf8'))?.[1]),
);
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

  const warnings: object[] = [];

  beforeEach(async () => {
    warnings.length = 0;
    Logger.overrideLogger({
      log() {},
      error() {},
      warn: (message: unknown, details: object) => warnings.push({ message, ...details }),
    });
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
    `The schema of the database is neither that of this release nor that of version 0.3.0, but has other migrations (${names}): migrate it with version 0.3.0 first`;

  it('create the tables and columns of the entities', async () => {
    expect(await migrate(database.url)).toEqual(NAMES);
    expect(await migrate(database.url)).toEqual([]);

    await dataSource.initialize();
    expect(dataSource.entityMetadatas.length).toBeGreaterThan(5);
    inTurn(dataSource);
    const drift = await dataSource.driver.createSchemaBuilder().log();
    // Entities contain no constraints and indexes.
    const ofColumns = drift.upQueries
      .map(({ query }) => query)
      .filter((query) => !/ DROP CONSTRAINT |^DROP INDEX /.test(query));
    expect(ofColumns).toEqual([]);
  });

  /** Sends statements of a connection one after the other. The schema builder of TypeORM does not wait, which pg deprecates. */
  function inTurn(source: DataSource): void {
    const create = source.createQueryRunner.bind(source);
    source.createQueryRunner = (mode) => {
      const runner = create(mode);
      const query = runner.query.bind(runner) as (...parameters: unknown[]) => Promise<unknown>;
      const queue = new KeyedQueue(1);
      runner.query = ((...parameters: unknown[]) =>
        queue.run('', () => query(...parameters))) as typeof runner.query;
      return runner;
    };
  }

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
    await add('1790000000099');
    const sentence = refusal('Other1790000000099');
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
      'The schema of the database has no tables of this service: DATABASE_URL leads to another database, or the migration has yet to run. Run "mcs-admin migrate" first, or set MIGRATE_ON_START=on.',
    );
    await migrate(database.url);
    await database.query('DELETE FROM schema_migration WHERE name = $1', [NAMES.at(-1)]);
    await expect(checkDatabase(database.url)).rejects.toThrow(
      `The schema of the database is older than this release: ${NAMES.at(-1)} did not run. Run "mcs-admin migrate" first, or set MIGRATE_ON_START=on.`,
    );
  });

  it('wait for a backup without letting others wait, and say so once', async () => {
    await migrate(database.url);
    await dataSource.initialize();
    const backup = new pg.Client({ connectionString: database.url, application_name: 'pg_dump' });
    await backup.connect();
    await backup.query(`BEGIN; LOCK TABLE webhook_lane IN ACCESS SHARE MODE`);
    const runner = dataSource.createQueryRunner();
    let isChanged = false;
    const changing = changeSchema(
      runner,
      'ALTER TABLE webhook_lane ADD COLUMN IF NOT EXISTS speed integer',
    ).then(() => (isChanged = true));
    await eventually('the migration says for whom it waits', () => Promise.resolve(warnings.length > 0));
    // From now on, the migration does not ask for the lock.
    const waits: object[] = [];
    for (let look = 0; look < 40; look += 1)
      waits.push(
        ...(await database.query(
          `SELECT FROM pg_locks WHERE relation = 'webhook_lane'::regclass AND NOT granted`,
        )),
      );
    expect(waits).toEqual([]);
    expect(isChanged).toBe(false);
    await backup.query('COMMIT');
    await backup.end();
    await changing;
    await runner.release();
    expect(warnings).toEqual([
      {
        message: 'The migration waits until other transactions end. The service continues meanwhile',
        statement: 'ALTER TABLE webhook_lane ADD COLUMN IF NOT EXISTS speed integer',
        transactions: [
          {
            pid: expect.any(Number),
            user: 'postgres',
            application: 'pg_dump',
            query: expect.stringContaining('LOCK TABLE webhook_lane'),
          },
        ],
      },
    ]);
    await database.query('SELECT speed FROM webhook_lane');
  });

  it('give a statement more time if it takes long although nobody blocks it, and say so', async () => {
    await dataSource.initialize();
    const runner = dataSource.createQueryRunner();
    await changeSchema(runner, 'SELECT pg_sleep(0.5)', 300);
    await runner.release();
    expect(warnings[0]).toMatchObject({
      message: expect.stringContaining('takes longer than its limit'),
      statement: 'SELECT pg_sleep(0.5)',
      attempts: 1,
      milliseconds: 600,
    });
  });

  it('repeat statements that a deadlock ended', async () => {
    await migrate(database.url);
    await dataSource.initialize();
    await database.query(
      `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'webhook_recovery_pending_index'::regclass`,
    );
    const runner = dataSource.createQueryRunner();
    const query = runner.query.bind(runner);
    const ended = new Set<string>();
    Object.assign(runner, {
      query: async (statement: string, values?: unknown[]) => {
        if (ended.has(statement) || !/^(?:ALTER|CREATE|DROP) /.test(statement))
          return query(statement, values);
        ended.add(statement);
        throw Object.assign(new Error('deadlock detected'), { code: '40P01' });
      },
    });
    await changeSchema(runner, 'ALTER TABLE webhook_lane ADD COLUMN IF NOT EXISTS speed integer');
    await createIndexConcurrently(runner, {
      name: 'webhook_recovery_pending_index',
      table: 'webhook_recovery',
      definition: '(requested_at) WHERE finished_at IS NULL',
    });
    await runner.release();
    expect([...ended].map((statement) => statement.split(' ').slice(0, 3).join(' '))).toEqual([
      'ALTER TABLE webhook_lane',
      'DROP INDEX CONCURRENTLY',
      'CREATE INDEX CONCURRENTLY',
    ]);
  });

  it('tell a process that waits until another one has migrated the database', async () => {
    await migrate(database.url);
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    await other.query(`SELECT pg_advisory_lock(${advisoryLockKey('migrate')})`);
    const waiting = migrate(database.url);
    await eventually('the process says that it waits', () => Promise.resolve(warnings.length > 0));
    expect(warnings).toEqual([
      { message: 'This process waits until another process ends its work', work: 'migrate' },
    ]);
    await other.end();
    expect(await waiting).toEqual([]);
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

  it('create indexes of partitions while others are created and dropped', async () => {
    await migrate(database.url);
    await dataSource.initialize();
    await database.query('DROP INDEX request_log_webhook_index');
    const create = (day: string, next: string) =>
      database.query(
        `CREATE TABLE request_log_${day} (LIKE request_log INCLUDING DEFAULTS INCLUDING CONSTRAINTS);
         ALTER TABLE request_log ATTACH PARTITION request_log_${day} FOR VALUES FROM ('${day} 00:00Z') TO ('${next} 00:00Z');`,
      );
    await create('20260131', '20260201');
    await create('20260203', '20260204');
    const writer = new pg.Client({ connectionString: database.url });
    await writer.connect();
    await writer.query(`BEGIN; LOCK TABLE ONLY request_log IN ROW EXCLUSIVE MODE`);
    const runner = dataSource.createQueryRunner();
    const query = runner.query.bind(runner);
    Object.assign(runner, {
      query: async (statement: string, values?: unknown[]) => {
        if (/^CREATE INDEX CONCURRENTLY .* ON request_log_20260203 /.test(statement))
          await database.query('DROP TABLE request_log_20260203');
        return query(statement, values);
      },
    });
    const creating = createIndexConcurrently(runner, {
      name: 'request_log_webhook_index',
      table: 'request_log',
      definition: `(client_id, environment, created_at, id) WHERE type = 'webhook'`,
    });
    await eventually('the migration waits for the writer', async () => {
      const waiting = await database.query(
        `SELECT FROM pg_stat_activity
          WHERE datname = current_database() AND query LIKE 'CREATE INDEX IF NOT EXISTS%' AND wait_event_type = 'Lock'`,
      );
      return waiting.length > 0;
    });
    await create('20260202', '20260203');
    await writer.query('COMMIT');
    await writer.end();
    await creating;
    await runner.release();
    expect(
      await database.query(
        `SELECT indexrelid::regclass::text AS index, indisvalid,
                ARRAY(SELECT indrelid::regclass::text FROM pg_inherits JOIN pg_index ON indexrelid = inhrelid
                       WHERE inhparent = parent.indexrelid ORDER BY 1) AS partitions
           FROM pg_index parent WHERE indexrelid = 'request_log_webhook_index'::regclass`,
      ),
    ).toEqual([
      {
        index: 'request_log_webhook_index',
        indisvalid: true,
        partitions: ['request_log_20260131', 'request_log_20260202', 'request_log_default'],
      },
    ]);
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
    const sources = readdirSync(FOLDER).map((file) => readFileSync(join(FOLDER, file), 'utf8'));
    const functions = [...sources.join('').matchAll(/FUNCTION (\w+)[^$]*AS \$\$(.*?)\$\$/gs)];
    const check = readFileSync(join(SOURCES, '..', '.ci', 'previous-release'), 'utf8');
    // Only the last release calls these.
    const kept = String(/KEPT_FUNCTIONS = \[(.*?)\]/s.exec(check)?.[1]);
    // After a release, there may be none.
    for (const [, name, body = ''] of functions)
      if (!kept.includes(`'${name}'`)) expect(schema).toContain(body);
  });

  it('are found by their files, which have the number and the name of their class', async () => {
    await dataSource.initialize();
    expect(dataSource.migrations.map(({ name }) => name).toSorted()).toEqual(NAMES.toSorted());
    expect(dataSource.migrations.map(({ constructor }) => constructor.name).toSorted()).toEqual(
      NAMES.toSorted(),
    );
    const numbersOf = (texts: readonly string[]) => texts.map((text) => /\d{13}/.exec(text)?.[0]);
    expect(numbersOf(NAMES)).toEqual(numbersOf(FILES));
    expect(new Set(numbersOf(NAMES)).size).toBe(NAMES.length);
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
    [
      'a role without LOGIN',
      /^The database at \S+ refused the user of DATABASE_URL: role "no_login" is not permitted to log in \(28000\)\.$/,
    ],
    [
      'a read-only role',
      /^The database at \S+ is read-only: cannot execute .* in a read-only transaction \(25006\)\. DATABASE_URL must lead to the primary, and neither the role nor the database may set default_transaction_read_only\.$/,
    ],
    [
      'the port of another program',
      /^The database at 127\.0\.0\.1:\d+ is unreachable \(Connection terminated unexpectedly\)\. Is it running, and is DATABASE_URL right\?$/,
    ],
  ])('explain in one sentence why they cannot run: %s', async (which, sentence) => {
    const url = which.startsWith('postgres:') ? new URL(which) : new URL(database.url);
    if (which === 'no such database') url.pathname = '/missing';
    if (which === 'wrong password') url.password = 'wrong';
    if (which === 'a role without LOGIN') {
      await database.query(`CREATE ROLE no_login PASSWORD 'no-login'`);
      Object.assign(url, { username: 'no_login', password: 'no-login' });
    }
    if (which === 'a read-only role') url.search = '?options=-c default_transaction_read_only=on';
    const other = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    if (which === 'the port of another program') {
      await once(other.listen(0, '127.0.0.1'), 'listening');
      url.port = String((other.address() as AddressInfo).port);
    }
    try {
      await expect(migrate(url.href)).rejects.toThrow(sentence);
    } finally {
      other.close();
      await database.query('DROP ROLE IF EXISTS no_login');
    }
  });

  it.each(['LATIN1', 'SQL_ASCII'])('refuse a database with the encoding %s', async (encoding) => {
    const url = new URL(database.url);
    const name = `encoding_${encoding}`.toLowerCase();
    url.pathname = `/${name}`;
    await database.query(
      `CREATE DATABASE ${name} TEMPLATE template0 ENCODING '${encoding}' LOCALE 'C' LOCALE_PROVIDER libc`,
    );
    try {
      await expect(migrate(url.href)).rejects.toThrow(
        `The encoding of the database is ${encoding}: this service requires UTF8, which every text can be stored in. Create the database with ENCODING 'UTF8'.`,
      );
      // One that an earlier release has filled.
      const filled = new DataSource({ type: 'postgres', url: url.href });
      await filled.initialize();
      await filled.query(
        `CREATE TABLE schema_migration (id serial, "timestamp" bigint, name varchar, checksum text);
         INSERT INTO schema_migration ("timestamp", name) VALUES (1, 'OfAnEarlierRelease1')`,
      );
      await filled.destroy();
      await expect(migrate(url.href)).rejects.toThrow('The schema of the database is neither');
    } finally {
      await database.query(`DROP DATABASE ${name} WITH (FORCE)`);
    }
  });
});
