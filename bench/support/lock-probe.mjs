import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

const PAUSE = 5;

/** Asks for the locks of a reader and of a writer of each table in turn, and remembers the longest wait until `take()`. */
export async function openLockProbe(databaseUrl) {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'lock probe' });
  await client.connect();
  const { rows } = await client.query(
    `SELECT relname AS name FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
        AND relname !~ '_columnar$' ORDER BY relname`,
  );
  let isOpen = true;
  let longest = { milliseconds: 0, table: '' };
  const probing = (async () => {
    while (isOpen)
      for (const { name } of rows) {
        const began = performance.now();
        await client.query(
          `BEGIN; SELECT FROM ${name} LIMIT 1; LOCK TABLE ${name} IN ROW EXCLUSIVE MODE; COMMIT`,
        );
        const milliseconds = Math.round(performance.now() - began);
        if (milliseconds > longest.milliseconds) longest = { milliseconds, table: name };
        await pause(PAUSE);
      }
  })();
  return {
    /** Returns the longest wait since the last call. */
    take() {
      const result = longest;
      longest = { milliseconds: 0, table: '' };
      return result;
    },
    async close() {
      isOpen = false;
      await probing;
      await client.end();
    },
  };
}
