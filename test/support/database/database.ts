import { randomBytes } from 'node:crypto';
import pg from 'pg';

const templateUrl = process.env.TEST_TEMPLATE_URL ?? '';
/** The server, followed by the workers if the tests run on a cluster; see `citus-cluster.mjs`. */
const serverUrls = [templateUrl, ...(process.env.TEST_WORKER_URLS?.split(' ') ?? [])];

/** A separate database, cloned from the migrated template, with a connection for queries of the test. */
export interface TestDatabase {
  readonly name: string;
  readonly url: string;
  query<Row extends object = Record<string, unknown>>(sql: string, values?: unknown[]): Promise<Row[]>;
  /** Ends all connections and refuses new ones, as if the server were down. */
  cutOff(): Promise<void>;
  reconnect(): Promise<void>;
  /** Renames a table until the end of the block: `await using _table = await database.hide(…)`. */
  hide(table: string): Promise<AsyncDisposable>;
  drop(): Promise<void>;
}

export async function cloneDatabase(options: { empty?: boolean } = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const template = options.empty ? process.env.TEST_EMPTY_TEMPLATE : 'template_migrated';
  // The other strategy writes each page to the write-ahead log, which takes five times the CPU time.
  await administer(`CREATE DATABASE ${name} STRATEGY file_copy${template ? ` TEMPLATE ${template}` : ''}`);
  const url = Object.assign(new URL(templateUrl), { pathname: `/${name}` }).href;
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  pool.on('error', () => undefined);
  const query: TestDatabase['query'] = async (sql, values) =>
    (await unlessDeadlocked(() => pool.query(sql, values))).rows;
  return {
    name,
    url,
    query,
    async hide(table) {
      await query(`ALTER TABLE ${table} RENAME TO ${table}_hidden`);
      return {
        async [Symbol.asyncDispose]() {
          await query(`ALTER TABLE ${table}_hidden RENAME TO ${table}`);
        },
      };
    },
    async cutOff() {
      await administer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
      await administer(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    },
    async reconnect() {
      await administer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    },
    async drop() {
      await pool.end();
      await administer(`DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

const DEADLOCK_DETECTED = '40P01';
const MAX_ATTEMPTS = 5;

/**
 * Runs a query of a test again if PostgreSQL has rolled it back, because its locks and those of the service were in each
 * other's way: the service retries, too. Changes of a schema lock whole tables.
 */
async function unlessDeadlocked<Result>(query: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await query();
    } catch (error) {
      if ((error as pg.DatabaseError).code !== DEADLOCK_DETECTED || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** Runs a statement in the database postgres of each server, because a template can be cloned only without connections. */
async function administer(sql: string): Promise<void> {
  for (const serverUrl of serverUrls) {
    const url = Object.assign(new URL(serverUrl), { pathname: '/postgres' }).href;
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  }
}
