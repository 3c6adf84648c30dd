import { DISTRIBUTED_TABLES } from '../../../src/infrastructure/database/database.configuration.js';
import { RequestLogRepository } from '../../../src/modules/request-logs/index.js';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.js';
import { fillRequestLog, loggedRequest } from '../../support/logs/request-log-entries.js';
import { useTestApp } from '../../support/test-app.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await cloneDatabase();
  // A partition, in addition to the default partition.
  for (const { table } of DISTRIBUTED_TABLES) {
    await database.query('SELECT create_daily_partition($1, current_date)', [table]);
  }
});
afterAll(() => database.drop());

/** The table and its partitions. */
const RELATIONS = `SELECT $1::regclass AS oid UNION ALL SELECT inhrelid FROM pg_inherits WHERE inhparent = $1::regclass`;

/** Citus refuses to distribute a table that does not meet these rules; the tests find such a change without Citus. */
describe.each(DISTRIBUTED_TABLES)(
  'The table $table, which can be distributed by $column,',
  ({ table, column }) => {
    it('has the column in each unique index', async () => {
      const indexes = await database.query<{ name: string; columns: string[] }>(
        `SELECT indexrelid::regclass::text AS name,
              ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = indrelid AND attnum = ANY (indkey)) AS columns
         FROM pg_index WHERE indisunique AND indrelid IN (${RELATIONS})`,
        [table],
      );
      expect(indexes.length).toBeGreaterThan(2);
      expect(indexes.filter(({ columns }) => !columns.includes(column))).toEqual([]);
    });

    it('has no trigger', async () => {
      const triggers = await database.query(
        `SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgrelid IN (${RELATIONS})`,
        [table],
      );
      expect(triggers).toEqual([]);
    });

    it('has no foreign key to or from a table that is not distributed', async () => {
      const keys = await database.query(
        `SELECT conname FROM pg_constraint
        WHERE contype = 'f'
          AND (conrelid IN (${RELATIONS}) AND confrelid <> ALL ($2::regclass[])
            OR confrelid IN (${RELATIONS}) AND conrelid <> ALL ($2::regclass[]))`,
        [table, `{${DISTRIBUTED_TABLES.map((each) => each.table).join(',')}}`],
      );
      expect(keys).toEqual([]);
    });
  },
);

describe('An entry of a distributed request log', () => {
  const service = useTestApp({ DATABASE_DISTRIBUTION: 'citus' });

  it('is looked up by its client, so that nodes without entries of the client may be down', async () => {
    const { production, development } = service;
    await fillRequestLog(service, [
      loggedRequest(production, { createdAt: new Date(), externalUserId: 'one' }),
    ]);
    const [{ id } = { id: '' }] = await service.database.query<{ id: string }>('SELECT id FROM request_log');

    const store = service.app.get(RequestLogRepository);
    const { reads } = store as unknown as {
      reads: { query: (...of: [string, unknown[]]) => Promise<object[]> };
    };
    const query = reads.query.bind(reads);
    let plan = '';
    reads.query = async (statement, values) => {
      const rows = await service.database.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${statement}`, values);
      plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      return query(statement, values);
    };
    expect(await store.find([production, development], Number(id))).toMatchObject({
      external_user_id: 'one',
    });
    expect(await store.find([development], Number(id))).toBeUndefined();
    // Each partition is scanned with the condition. A filter above the scans would not show Citus which nodes are concerned.
    const scans = plan.split(/->/).filter((node) => /Scan/.test(node) && /on request_log/.test(node));
    expect(scans.length).toBeGreaterThan(1);
    expect(scans.filter((scan) => !/(?:Cond|Filter): .*client_id = ANY/.test(scan))).toEqual([]);
  });
});
