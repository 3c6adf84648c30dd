import type { TestApp } from './test-app.js';

/** Runs the work while inserts into the table fail. */
export async function whileInsertsFail(
  { database }: Pick<TestApp, 'database'>,
  table: string,
  work: () => Promise<void>,
): Promise<void> {
  await database.query(
    `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'full'; END $$;
     CREATE TRIGGER fail AFTER INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION fail();`,
  );
  try {
    await work();
  } finally {
    await database.query(`DROP TRIGGER fail ON ${table}; DROP FUNCTION fail();`);
  }
}
