import { RequestLogHistory, RequestLogRepository } from '../../src/modules/request-logs/index.js';
import { DailyPartitions, PartitionRotation } from '../../src/infrastructure/database/index.js';
import { DAY } from '../../src/infrastructure/time/index.js';
import { finishErasures, placesOf } from '../support/erasures.js';
import { logLines } from '../support/log-lines.js';
import { fillRequestLog, loggedAttempt, loggedRequest } from '../support/request-log-entries.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const TODAY = Math.floor(Date.now() / DAY) * DAY;
/** Columnar storage is an extension, which is not part of this project. */
const withExtension = process.env.TEST_CITUS_BINARIES === undefined ? describe.skip : describe;

let service: TestApp;
let client: { clientId: string; environment: 'production' };

beforeAll(async () => {
  service = await startTestApp({ REQUEST_LOG_COLUMNAR_AFTER_DAYS: '2' });
  client = { clientId: service.production.clientId, environment: 'production' };
});
afterAll(() => service.close());

/** Returns how each partition of the last days is stored. */
async function storage(): Promise<Record<string, string>> {
  const rows = await service.database.query<{ name: string; storage: string }>(
    `SELECT child.relname AS name, amname AS storage
       FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid JOIN pg_am ON pg_am.oid = relam
      WHERE inhparent = 'request_log'::regclass ORDER BY name`,
  );
  return Object.fromEntries(rows.map((row) => [row.name, row.storage]));
}

function partition(daysAgo: number): string {
  return `request_log_${new Date(TODAY - daysAgo * DAY).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

function entriesOf(daysAgo: number): Parameters<typeof fillRequestLog>[1] {
  const start = TODAY - daysAgo * DAY;
  return Array.from({ length: 40 }, (_, index) => {
    const change = { createdAt: new Date(start + index * 60_000), externalUserId: `user-${index % 7}` };
    return index % 4 === 0 ? loggedAttempt(client, change) : loggedRequest(client, change);
  });
}

async function allEntries(): Promise<unknown[]> {
  const entries = [];
  const bounds = { start: new Date(TODAY - 5 * DAY).toISOString(), end: new Date().toISOString() };
  for await (const entry of service.app.get(RequestLogHistory).all(client, bounds)) entries.push(entry);
  return entries;
}

const withoutExtension = process.env.TEST_CITUS_BINARIES === undefined ? describe : describe.skip;

describe('A partition', () => {
  it('is stored in rows again with all entries, indexes and the same place', async () => {
    const day = new Date(TODAY - 5 * DAY);
    await service.database.query(`SELECT create_daily_partition('request_log', $1)`, [day]);
    await fillRequestLog(service, entriesOf(5));
    const entries = await allEntries();
    expect(entries.length).toBeGreaterThanOrEqual(40);
    const indexes = (): Promise<object[]> =>
      service.database.query(
        `SELECT count(*)::integer AS attached FROM pg_index JOIN pg_inherits ON inhrelid = indexrelid
          WHERE indrelid = $1::regclass AND indisvalid`,
        [partition(5)],
      );
    const before = await indexes();
    const partitions = service.app.get(DailyPartitions);
    await partitions.decompress('request_log', day);
    expect(await allEntries()).toEqual(entries);
    expect(await indexes()).toEqual(before);
    expect(await storage()).toMatchObject({ [partition(5)]: 'heap' });
    expect(await partitions.isMovingRows()).toBe(false);
    await service.database.query(`CREATE TABLE ${partition(5)}_columnar ()`);
    expect(await partitions.isMovingRows()).toBe(true);
    await service.database.query(`DROP TABLE ${partition(5)}_columnar, ${partition(5)}`);
  });
});

withoutExtension('Without the extension for columnar storage', () => {
  it('lists all days as stored in rows, and none as stored in columns', async () => {
    const partitions = service.app.get(DailyPartitions);
    expect(await partitions.daysStoredIn('heap', 'request_log')).toContainEqual(new Date(TODAY));
    expect(await partitions.daysStoredIn('columnar', 'request_log')).toEqual([]);
  });

  it('the log stays in rows, and a warning says why', async () => {
    await service.database.query(`SELECT create_daily_partition('request_log', $1)`, [
      new Date(TODAY - 4 * DAY),
    ]);
    await service.app.get(PartitionRotation).compress();
    expect(await storage()).toMatchObject({ [partition(4)]: 'heap' });
    expect(logLines().at(-1)).toMatchObject({
      level: 'warn',
      message:
        'REQUEST_LOG_COLUMNAR_AFTER_DAYS has no effect, because the database lacks the extension citus_columnar',
    });
  });
});

withExtension('Columnar storage of the request log', () => {
  beforeAll(async () => {
    await service.database.query('CREATE EXTENSION IF NOT EXISTS citus_columnar');
    for (const daysAgo of [4, 3, 2, 1]) {
      await service.database.query(`SELECT create_daily_partition('request_log', $1)`, [
        new Date(TODAY - daysAgo * DAY),
      ]);
      await fillRequestLog(service, entriesOf(daysAgo));
    }
  });

  it('stores days that ended long enough ago in columns, and all entries stay readable', async () => {
    const before = await allEntries();
    await service.app.get(PartitionRotation).compress();
    expect(await storage()).toMatchObject({
      [partition(4)]: 'columnar',
      [partition(3)]: 'columnar',
      [partition(2)]: 'heap',
      [partition(1)]: 'heap',
    });
    expect(before).toHaveLength(160);
    expect(await allEntries()).toEqual(before);
  });

  it('finds an entry by its ID and by every filter', async () => {
    const store = service.app.get(RequestLogRepository);
    const period = { start: new Date(TODAY - 4 * DAY), end: new Date(TODAY - 3 * DAY) };
    const page = { before: undefined, limit: 50 };
    const [entry] = await store.newest({ client, period, filter: { type: 'webhook' } }, page);
    expect(await store.find([client], entry?.id ?? 0)).toMatchObject({ id: entry?.id, type: 'webhook' });
    const ofUser = await store.newest({ client, period, filter: { external_user_id: 'user-3' } }, page);
    expect(ofUser).toHaveLength(6);
  });

  it('accepts an entry that arrives late', async () => {
    const createdAt = new Date(TODAY - 4 * DAY + DAY / 2);
    await fillRequestLog(service, [loggedRequest(client, { createdAt, externalUserId: 'late' })]);
    expect(await allEntries()).toHaveLength(161);
  });

  it('copies a day again if an entry arrives while it is copied', async () => {
    await service.database.query('SELECT build_columnar_partition($1, $2)', [
      'request_log',
      new Date(TODAY - 2 * DAY),
    ]);
    await fillRequestLog(service, [loggedRequest(client, { createdAt: new Date(TODAY - 2 * DAY) })]);
    const [{ exchanged } = { exchanged: true }] = await service.database.query<{ exchanged: boolean }>(
      'SELECT exchange_columnar_partition($1, $2) AS exchanged',
      ['request_log', new Date(TODAY - 2 * DAY)],
    );
    expect(exchanged).toBe(false);
    expect((await storage())[partition(2)]).toBe('heap');
    expect(await allEntries()).toHaveLength(162);
  });

  it('erases a user from such days', async () => {
    const entries = (await allEntries()).length;
    await service.request('/external-users/user-5', { method: 'DELETE', as: service.production });
    await finishErasures(service);
    expect(await placesOf(service, 'user-5')).toEqual([]);
    expect((await allEntries()).length).toBeGreaterThanOrEqual(entries);
  });

  it('drops such days past retention', async () => {
    await service.app.get(DailyPartitions).rotate('request_log', new Date(), { days: 3 });
    expect(Object.keys(await storage())).not.toContain(partition(4));
  });
});
