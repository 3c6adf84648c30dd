import { DISTRIBUTED_TABLES } from '../../src/infrastructure/database/distribution/distributed-tables.js';
import { cloneDatabase, type TestDatabase } from '../support/database.js';

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
