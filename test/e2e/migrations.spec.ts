import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../src/infrastructure/database/data-source-options.js';
import { migrate } from '../../src/infrastructure/database/index.js';
import { MIGRATIONS } from '../../src/infrastructure/database/migrations/index.js';
import { cloneDatabase, type TestDatabase } from '../support/database.js';

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

  /** Returns the names of tables, views, sequences and types, in order. */
  const relations = async (): Promise<string[]> => {
    const rows = await database.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S')
       UNION ALL
       SELECT typname FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typtype IN ('e', 'd')
       ORDER BY name`,
    );
    return rows.map(({ name }) => name);
  };

  it('run up, down and up again, and create the schema of the entities', async () => {
    expect(await migrate(database.url)).toEqual(NAMES);
    expect(await migrate(database.url)).toEqual([]);
    const built = await relations();

    await dataSource.initialize();
    expect(dataSource.entityMetadatas.length).toBeGreaterThan(5);
    const drift = await dataSource.driver.createSchemaBuilder().log();
    expect(drift.upQueries.map(({ query }) => query)).toEqual([]);

    for (const _ of NAMES) await dataSource.undoLastMigration();
    expect(await relations()).toEqual(['schema_migration', 'schema_migration_id_seq']);

    await dataSource.runMigrations();
    expect(await relations()).toEqual(built);
  });

  it('run once if processes start concurrently', async () => {
    const done = await Promise.all(Array.from({ length: 4 }, () => migrate(database.url)));
    expect(done.toSorted((left, right) => right.length - left.length)).toEqual([NAMES, [], [], []]);
    expect(await database.query('SELECT count(*)::int FROM schema_migration')).toEqual([
      { count: NAMES.length },
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
