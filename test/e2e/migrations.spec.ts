import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { DAY } from '../../src/infrastructure/time/index.js';
import { dataSourceOptions } from '../../src/infrastructure/database/data-source-options.js';
import { checkDatabase, migrate, type Transaction } from '../../src/infrastructure/database/index.js';
import { checksumOf } from '../../src/infrastructure/database/migration-checksums.js';
import { Baseline1790000000001 } from '../../src/infrastructure/database/migrations/1790000000001-baseline.js';
import { McpTokenPartitions1790000000025 } from '../../src/infrastructure/database/migrations/1790000000025-mcp-token-partitions.js';
import { WebhookLogIndex1790000000006 } from '../../src/infrastructure/database/migrations/1790000000006-webhook-log-index.js';
import { RequestLogInRows1790000000083 } from '../../src/infrastructure/database/migrations/1790000000083-request-log-in-rows.js';
import { MIGRATIONS } from '../../src/infrastructure/database/migrations/index.js';
import { McpTokensBatch } from '../../src/modules/mcp-tokens/mcp-tokens.batch.js';
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

    // A database of version 0.2.0, which stored no checksums.
    await database.query('ALTER TABLE schema_migration DROP COLUMN checksum');
    await checkDatabase(database.url);
    await migrate(database.url);
    expect(await database.query('SELECT name, checksum FROM schema_migration ORDER BY "timestamp"')).toEqual(
      stored,
    );
  });

  it('are refused if another branch added some, but not if a newer release did', async () => {
    await migrate(database.url);
    const add = (number: string) =>
      database.query(`INSERT INTO schema_migration ("timestamp", name) VALUES (${number}, 'Other${number}')`);
    await add('9790000000001');
    expect(await migrate(database.url)).toEqual([]);
    await checkDatabase(database.url);
    await add('1700000000001');
    const sentence =
      'The database contains migrations that this release does not know: Other1700000000001. They come from another branch, or from before version 0.2.0.';
    await expect(migrate(database.url)).rejects.toThrow(sentence);
    await expect(checkDatabase(database.url)).rejects.toThrow(sentence);
  });

  it('are required if the process does not run them itself', async () => {
    await expect(checkDatabase(database.url)).rejects.toThrow(
      `The schema of the database is older than this release: ${NAMES.join(', ')} did not run. Run "npm run cli -- migrate" first, or set MIGRATE_ON_START=on.`,
    );
  });

  it('of released versions keep their statements', async () => {
    expect(await checksumOf(new Baseline1790000000001())).toBe(
      '64fc02e07353ce4b2640ad5c76fa435f610b43b17fbf00d770fb3086d112a566',
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
    const creating = new WebhookLogIndex1790000000006().up(runner);
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

  it('store days of the request log in rows that 0.3.0 stored in columns, with all entries and indexes', async () => {
    const before = await new DataSource({
      ...dataSourceOptions({ url: database.url }),
      migrations: MIGRATIONS.slice(0, MIGRATIONS.indexOf(RequestLogInRows1790000000083)),
    }).initialize();
    await before.runMigrations();
    await before.destroy();
    // The extension is not part of this project. This access method has its name, and stores rows.
    await database.query(`CREATE ACCESS METHOD columnar TYPE TABLE HANDLER heap_tableam_handler`);
    const days = ['20260130', '20260131'];
    for (const day of days) {
      await database.query(`SELECT create_daily_partition('request_log', $1)`, [day]);
      await database.query(
        `INSERT INTO request_log (client_id, environment, created_at, type, method, status_code, latency_ms)
         SELECT gen_random_uuid(), 'production', $1::timestamptz + step * interval '1 minute', 'webhook', 'POST', 200, step
           FROM generate_series(1, 40) step`,
        [`${day} 00:00:00Z`],
      );
    }
    const entries = () => database.query('SELECT * FROM request_log ORDER BY id');
    const written = await entries();
    expect(written).toHaveLength(80);
    const partitions = (): Promise<{ name: string; storage: string; indexes: number }[]> =>
      database.query(
        `SELECT relname AS name, amname AS storage,
                (SELECT count(*)::integer FROM pg_index WHERE indrelid = child.oid AND indisvalid) AS indexes
           FROM pg_class child JOIN pg_am ON pg_am.oid = relam
          WHERE relname = ANY ($1) ORDER BY name`,
        [days.map((day) => `request_log_${day}`)],
      );
    const inRows = await partitions();
    for (const day of days) {
      await database.query(`SELECT build_columnar_partition('request_log', $1)`, [day]);
      await database.query(`SELECT exchange_columnar_partition('request_log', $1)`, [day]);
    }
    expect((await partitions()).map(({ storage }) => storage)).toEqual(['columnar', 'columnar']);

    await migrate(database.url);
    expect(await partitions()).toEqual(inRows);
    expect(await entries()).toEqual(written);
    expect(await database.query(`SELECT proname FROM pg_proc WHERE proname LIKE 'build_%'`)).toEqual([]);
  });

  describe('that partition MCP tokens', () => {
    const CLIENT = '11111111-1111-4111-8111-111111111111';
    const POSITION = MIGRATIONS.indexOf(McpTokenPartitions1790000000025);

    /** Migrates to the schema of the previous release, and adds a client. */
    async function migrateBefore(): Promise<void> {
      const before = await new DataSource({
        ...dataSourceOptions({ url: database.url }),
        migrations: MIGRATIONS.slice(0, POSITION),
      }).initialize();
      await before.runMigrations();
      await before.destroy();
      await database.query(`INSERT INTO organization (id, name, created_at) VALUES ($1, 'Example', now())`, [
        CLIENT,
      ]);
      await database.query(
        `INSERT INTO api_client (id, organization_id, environment, created_at) VALUES ($1, $1, 'production', now())`,
        [CLIENT],
      );
    }

    /** The statements of the previous release. */
    const previous = {
      create: async (createdAt: Date, expiresAt: Date): Promise<Buffer> => {
        const hash = randomBytes(32);
        await database.query(
          `INSERT INTO mcp_token (token_hash, client_id, environment, external_user_id, phone_number_sealed,
                                  created_at, expires_at)
           SELECT * FROM unnest($1::bytea[], $2::uuid[], $3::text[], $4::text[], $5::bytea[],
                                $6::timestamptz[], $7::timestamptz[])`,
          [[hash], [CLIENT], ['production'], ['user'], [null], [createdAt], [expiresAt]],
        );
        return hash;
      },
      find: async (hash: Buffer): Promise<{ id: string } | undefined> => {
        const [found] = await database.query<{ id: string }>(
          `SELECT position::integer, id, client_id AS "clientId", environment, external_user_id AS "externalUserId",
                  phone_number_sealed AS "phoneNumberSealed", expires_at AS "expiresAt"
             FROM unnest($1::bytea[]) WITH ORDINALITY AS lookup (token_hash, position)
             JOIN mcp_token USING (token_hash)
            WHERE revoked_at IS NULL`,
          [[hash]],
        );
        return found;
      },
      revoke: (hash: Buffer) =>
        database.query(
          'UPDATE mcp_token SET revoked_at = $1 WHERE token_hash = $2 AND client_id = $3 AND revoked_at IS NULL',
          [new Date(), hash, CLIENT],
        ),
      deleteExpired: (before: Date) =>
        database.query(
          `DELETE FROM mcp_token WHERE id IN (
             SELECT id FROM mcp_token WHERE expires_at < $1 ORDER BY expires_at LIMIT 1000 FOR UPDATE SKIP LOCKED)`,
          [before],
        ),
    };
    const inDays = (days: number): Date => new Date(Date.now() + days * DAY);
    const partitions = async (): Promise<string[]> => {
      const rows = await database.query<{ name: string }>(
        `SELECT inhrelid::regclass::text AS name FROM pg_inherits
          WHERE inhparent = 'mcp_token'::regclass AND inhrelid IN (SELECT oid FROM pg_class WHERE relkind = 'r')
          ORDER BY name`,
      );
      return rows.map(({ name }) => name);
    };

    it('keep all tokens, and the previous release creates, finds, revokes and deletes tokens meanwhile and after', async () => {
      await migrateBefore();
      const old = await Promise.all([
        previous.create(inDays(-1), inDays(1)),
        previous.create(inDays(-20), inDays(-10)),
      ]);
      const created: Buffer[] = [];
      let isDone = false;
      const running = (async () => {
        while (!isDone) {
          const hash = await previous.create(new Date(), inDays(1));
          expect(await previous.find(hash)).toBeDefined();
          created.push(hash);
        }
      })();
      await migrate(database.url);
      isDone = true;
      await running;
      expect(created.length).toBeGreaterThan(0);

      const until = new Date(Math.floor(Date.now() / DAY) * DAY + 2 * DAY).toISOString();
      expect(await partitions()).toEqual([
        'mcp_token_default',
        `mcp_token_until_${until.slice(0, 10).replaceAll('-', '')}`,
      ]);
      // Tokens of days after that go to the default partition until the background work of this release runs.
      const all = [...old, ...created, await previous.create(inDays(3), inDays(4))];
      const found = await Promise.all(all.map(previous.find));
      expect(new Set(found.map((each) => each?.id)).size).toBe(all.length);

      const [first = randomBytes(32), second = randomBytes(32)] = old;
      await previous.deleteExpired(inDays(-7));
      await previous.revoke(first);
      expect(await previous.find(second)).toBeUndefined();
      expect(await previous.find(first)).toBeUndefined();

      await dataSource.initialize();
      const batch = new McpTokensBatch(dataSource, { isOpen: false } as Transaction);
      const today = new Date(Math.floor(Date.now() / DAY) * DAY);
      const [hash = randomBytes(32)] = created.slice(-1);
      expect(await batch.findOfDay(hash, today)).toMatchObject({ clientId: CLIENT });
      expect(await batch.findOfAnyDay(hash)).toMatchObject({ clientId: CLIENT });
      expect(
        await database.query(`SELECT FROM pg_constraint WHERE conname = 'mcp_token_until_check'`),
      ).toEqual([]);
    });

    it('wait for a transaction that reads tokens without blocking other requests for long', async () => {
      await migrateBefore();
      const hash = await previous.create(new Date(), inDays(1));
      const reader = new pg.Client({ connectionString: database.url });
      await reader.connect();
      let migrating: Promise<unknown> = Promise.resolve();
      try {
        await reader.query('BEGIN; LOCK TABLE mcp_token IN ACCESS SHARE MODE');
        migrating = migrate(database.url);
        await eventually('the migration retries', async () => {
          const waiting = await database.query(
            `SELECT FROM pg_stat_activity WHERE query LIKE 'DO %mcp_token%' AND wait_event = 'PgSleep'
                AND datname = current_database()`,
          );
          return waiting.length > 0;
        });
        // Between two attempts, the migration holds no lock.
        expect(await previous.find(hash)).toBeDefined();
      } finally {
        await reader.end();
      }
      await migrating;
      expect((await partitions()).length).toBe(2);
    });

    it('leave the role of the service its privileges, before the command grants them again', async () => {
      await migrateBefore();
      const role = `role_${randomBytes(4).toString('hex')}`;
      await database.query(`CREATE ROLE ${role}`);
      try {
        await database.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON mcp_token TO ${role}`);
        await migrate(database.url);
        await database.query(
          `BEGIN; SET LOCAL ROLE ${role};
           INSERT INTO mcp_token (token_hash, client_id, environment, external_user_id, created_at, expires_at)
           VALUES ('x', '${CLIENT}', 'production', 'user', now(), now()); COMMIT`,
        );
        expect(await database.query('SELECT external_user_id FROM mcp_token')).toHaveLength(1);
      } finally {
        await database.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
      }
    });

    it('continue after an interruption', async () => {
      await migrateBefore();
      await previous.create(new Date(), inDays(1));
      // As left by an attempt that was interrupted days ago: the table would refuse the tokens of today.
      await database.query(`CREATE UNIQUE INDEX mcp_token_until_pkey ON mcp_token (token_hash, created_at)`);
      await database.query(
        `ALTER TABLE mcp_token ADD CONSTRAINT mcp_token_until_check CHECK (created_at < '2020-01-01T00:00:00Z') NOT VALID`,
      );
      await migrate(database.url);
      expect((await partitions()).length).toBe(2);
      const hash = await previous.create(new Date(), inDays(1));
      expect(await previous.find(hash)).toBeDefined();
    });
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
