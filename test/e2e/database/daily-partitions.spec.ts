import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../../src/infrastructure/database/data-source-options.js';
import { DAY } from '../../../src/infrastructure/time/index.js';
import { DailyPartitions } from '../../../src/infrastructure/database/index.js';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.js';

const ROWS_PER_DAY = 20_000;
const RETENTION_DAYS = 30;
const NOW = new Date();
const CLIENT = '11111111-1111-4111-8111-111111111111';

let database: TestDatabase;
let dataSource: DataSource;
let partitions: DailyPartitions;

beforeEach(async () => {
  database = await cloneDatabase();
  // The rows of a day take longer than the shortest time that a statement of a request may be given.
  const options = { url: database.url, poolSize: 10, statementTimeoutMilliseconds: 100 };
  dataSource = await new DataSource(dataSourceOptions(options)).initialize();
  partitions = new DailyPartitions(dataSource);
});
afterEach(async () => {
  await dataSource.destroy();
  await database.drop();
});

const inDays = (days: number): Date => new Date(NOW.getTime() + days * DAY);
const nameOf = (days: number): string =>
  `request_log_${inDays(days).toISOString().slice(0, 10).replaceAll('-', '')}`;
const rotate = (): Promise<void> => partitions.rotate('request_log', NOW, { days: RETENTION_DAYS });

/** Removes all partitions, as if the background work had been down for long. */
async function dropPartitions(): Promise<void> {
  for (const { name, from } of await partitions.status('request_log')) {
    if (from) await database.query(`DROP TABLE ${name}`);
  }
}

const insert = (time: Date, rows: number): Promise<unknown> =>
  database.query(
    `INSERT INTO request_log (client_id, environment, created_at, type, method, path, status_code, latency_ms)
     SELECT $1, 'production', $2, 'request', 'POST', '/', 200, 12 FROM generate_series(1, $3::int)`,
    [CLIENT, time, rows],
  );

/** Returns the number of rows of the client in each partition. */
async function counts(): Promise<Record<string, number>> {
  const rows = await database.query<{ name: string; count: number }>(
    // In a cluster, the name of a shard ends with its number.
    `SELECT regexp_replace(tableoid::regclass::text, '_\\d{6}$', '') AS name, count(*)::int
       FROM request_log WHERE client_id = $1 GROUP BY 1`,
    [CLIENT],
  );
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

const names = async (): Promise<string[]> => (await partitions.status('request_log')).map(({ name }) => name);

describe('Daily partitions', () => {
  it('recover after the background work was down for days, without the time limit of requests', async () => {
    await dropPartitions();
    const farAway = inDays(400);
    for (const days of [-3, -1, 0]) await insert(inDays(days), ROWS_PER_DAY);
    await insert(inDays(-RETENTION_DAYS - 2), 5);
    await insert(farAway, 7);
    let isDone = false;
    let written = 0;
    const writing = (async () => {
      for (; !isDone; written += 1) await insert(NOW, 1);
    })();
    await rotate();
    isDone = true;
    await writing;
    expect(written).toBeGreaterThan(0);
    expect(await counts()).toEqual({
      [nameOf(-3)]: ROWS_PER_DAY,
      [nameOf(-1)]: ROWS_PER_DAY,
      [nameOf(0)]: ROWS_PER_DAY + written,
      request_log_default: 7,
    });
    expect(await names()).toEqual(expect.arrayContaining([nameOf(1), nameOf(7)]));
    expect(await database.query(`SELECT FROM pg_class WHERE relname LIKE 'request_log_stray%'`)).toEqual([]);
  });

  it('are created for the other days if one day fails', async () => {
    await dropPartitions();
    await insert(NOW, 1);
    for (const days of [-1, 2]) await database.query(`CREATE TABLE ${nameOf(days)} ()`);
    await expect(rotate()).rejects.toThrow(`relation "${nameOf(-1)}" already exists`);
    const existing = await names();
    for (const days of [0, 1, 3, 4, 5, 6, 7]) expect(existing).toContain(nameOf(days));
    expect(await counts()).toEqual({ [nameOf(0)]: 1 });
  });

  it('are completed by the next rotation if the process ended meanwhile', async () => {
    await dropPartitions();
    await insert(NOW, 3);
    const today = NOW.toISOString().slice(0, 10);
    await database.query(`SELECT create_daily_partition('request_log', $1)`, [today]);
    expect(await counts()).toEqual({});
    await rotate();
    expect(await counts()).toEqual({ [nameOf(0)]: 3 });
  });

  it('of other tables cannot be created with the privileges of the owner', async () => {
    await expect(database.query(`SELECT create_daily_partition('audit_log', '2026-01-31')`)).rejects.toThrow(
      'audit_log has no daily partitions.',
    );
    await expect(database.query(`SELECT drop_stray_table('request_log', 'audit_log')`)).rejects.toThrow(
      'audit_log is no stray table.',
    );
  });
});

describe('Daily partitions of rows that expire', () => {
  const RETENTION = { days: 7, expiryColumn: 'expires_at' };
  const nameOfToken = (days: number): string => nameOf(days).replace('request_log', 'mcp_token');
  const tokenNames = async (): Promise<string[]> =>
    (await partitions.status('mcp_token')).map(({ name }) => name);

  /** Adds tokens that were created and expire in so many days. */
  const addTokens = (created: Date, expires: Date, rows: number): Promise<unknown> =>
    database.query(
      `INSERT INTO mcp_token (token_hash, client_id, environment, external_user_id, created_at, expires_at)
       SELECT sha256(gen_random_uuid()::text::bytea), $1, 'production', 'user', $2, $3 FROM generate_series(1, $4::int)`,
      [CLIENT, created, expires, rows],
    );

  async function tokensIn(): Promise<Record<string, number>> {
    const rows = await database.query<{ name: string; count: number }>(
      'SELECT tableoid::regclass::text AS name, count(*)::int FROM mcp_token GROUP BY 1',
    );
    return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
  }

  it('are dropped when the last row of the day has expired for as long as rows are kept', async () => {
    for (const days of [-20, -19, -10, -9]) {
      // Creates the partition of this day among others.
      await partitions.rotate('mcp_token', inDays(days), { ...RETENTION, days: 365 });
    }
    await addTokens(inDays(-20), inDays(-9), 3);
    await addTokens(inDays(-19), inDays(-9), ROWS_PER_DAY);
    await addTokens(inDays(-19), inDays(-6), 1);
    await addTokens(inDays(-10), inDays(20), 2);
    await addTokens(inDays(-9), inDays(-8), 4);
    await partitions.rotate('mcp_token', NOW, RETENTION);
    expect(await tokensIn()).toEqual({ [nameOfToken(-19)]: ROWS_PER_DAY + 1, [nameOfToken(-10)]: 2 });
    expect(await tokenNames()).not.toContain(nameOfToken(-9));

    // 38 days after its creation, every token has expired for a week.
    await partitions.rotate('mcp_token', inDays(28), RETENTION);
    expect(await tokensIn()).toEqual({});
  });

  it('are created beside rows in the default partition, which are found all the time', async () => {
    for (const { name, from } of await partitions.status('mcp_token'))
      if (from) await database.query(`DROP TABLE ${name}`);
    await addTokens(inDays(-2), inDays(1), ROWS_PER_DAY);
    await addTokens(inDays(0), inDays(1), ROWS_PER_DAY);
    await addTokens(inDays(4), inDays(5), 1);
    await addTokens(inDays(-20), inDays(-19), 5);
    const counted: number[] = [];
    let isDone = false;
    const counting = (async () => {
      while (!isDone) {
        await addTokens(inDays(0), inDays(1), 1);
        const [row] = await database.query<{ count: number }>(
          `SELECT count(*)::int FROM mcp_token WHERE expires_at > $1`,
          [NOW],
        );
        counted.push(row?.count ?? 0);
      }
    })();
    await partitions.rotate('mcp_token', NOW, RETENTION);
    isDone = true;
    await counting;
    expect(counted).toEqual(counted.map((_, index) => 2 * ROWS_PER_DAY + 2 + index));
    expect(await tokensIn()).toEqual({ mcp_token_default: 2 * ROWS_PER_DAY + 1 + counted.length });
    const names = await tokenNames();
    for (const days of [2, 3, 5, 6, 7]) expect(names).toContain(nameOfToken(days));
    for (const days of [-2, -1, 0, 4]) expect(names).not.toContain(nameOfToken(days));
    // The default partition accepts rows of every day again.
    await addTokens(inDays(400), inDays(401), 1);
  });

  it('report a day that cannot be created beside rows in the default partition', async () => {
    for (const { name, from } of await partitions.status('mcp_token'))
      if (from) await database.query(`DROP TABLE ${name}`);
    await addTokens(inDays(400), inDays(401), 1);
    await database.query(`CREATE TABLE ${nameOfToken(2)} ()`);
    await expect(partitions.rotate('mcp_token', NOW, RETENTION)).rejects.toThrow(
      `relation "${nameOfToken(2)}" already exists`,
    );
    // The default partition accepts rows of the day again.
    await addTokens(inDays(2), inDays(3), 1);
  });

  it('accept rows again after a process was killed while the default partition was closed for their day', async () => {
    await partitions.rotate('mcp_token', NOW, RETENTION);
    await database.query(`DROP TABLE IF EXISTS ${nameOfToken(0)}`);
    await addTokens(inDays(0), inDays(1), 1);
    await database.query(`DELETE FROM mcp_token WHERE created_at = $1`, [NOW]);
    await addTokens(inDays(400), inDays(401), 1);
    await database.query(`SELECT close_default_partition('mcp_token', $1)`, [NOW.toISOString().slice(0, 10)]);
    await expect(addTokens(inDays(0), inDays(1), 1)).rejects.toThrow('mcp_token_default_day_check');
    await partitions.rotate('mcp_token', NOW, RETENTION);
    await addTokens(inDays(0), inDays(1), 1);
  });

  it('are dropped only if they are partitions of the table', async () => {
    for (const table of ['request_log_default', 'audit_log', nameOfToken(0)])
      await expect(database.query(`SELECT drop_partition('request_log', $1)`, [table])).rejects.toThrow(
        `${table} is no partition of request_log.`,
      );
  });
});
