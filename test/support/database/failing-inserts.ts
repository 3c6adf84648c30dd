import type { TestApp } from '../test-app.js';

/**
 * Runs the work while inserts into the table fail.
 *
 * @param condition which rows are refused, such as `NEW.action = 'auth.login'`
 */
export async function whileInsertsFail(
  { database }: Pick<TestApp, 'database'>,
  table: string,
  work: () => Promise<void>,
  condition = 'true',
): Promise<void> {
  await database.query(
    `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'unwritable'; END $$;
     CREATE TRIGGER fail AFTER INSERT ON ${table} FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION fail();`,
  );
  try {
    await work();
  } finally {
    await database.query(`DROP TRIGGER fail ON ${table}; DROP FUNCTION fail();`);
  }
}
