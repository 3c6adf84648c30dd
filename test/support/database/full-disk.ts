import type { TestApp } from '../test-app.js';

/** Runs the work while PostgreSQL has no room for rows of these tables. */
export async function whileDiskIsFull(
  { database }: Pick<TestApp, 'database'>,
  tables: readonly string[],
  work: () => Promise<void>,
): Promise<void> {
  await database.query(
    `CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$`,
  );
  for (const table of tables)
    await database.query(
      `CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON ${table} EXECUTE FUNCTION no_room()`,
    );
  try {
    await work();
  } finally {
    await database.query('DROP FUNCTION no_room() CASCADE');
  }
}

/** Returns how many attempts count toward limits. */
export async function countedAttempts({ database }: Pick<TestApp, 'database'>): Promise<number> {
  const [row] = await database.query<{ points: number }>(
    'SELECT coalesce(sum(points), 0)::int AS points FROM attempt_count',
  );
  return row?.points ?? 0;
}
