import { setTimeout as pause } from 'node:timers/promises';

const POLL_INTERVAL = 10;

/**
 * The virtual transactions that hold the lock under which rows of a table are written. PostgreSQL takes it before the first row, and
 * releases it after the rows have become visible.
 */
export const writingTransactions = (table: string): string => `
  SELECT DISTINCT virtualtransaction AS id FROM pg_locks
   WHERE locktype = 'relation' AND relation = '${table}'::regclass AND mode = 'RowExclusiveLock' AND granted
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

type Query = <Result>(statement: string, parameters?: unknown[]) => Promise<Result>;

/**
 * Returns an ID of the table's sequence such that every row with a smaller one is committed, or never will be. Waits for the
 * transactions that are writing rows; if one takes longer than the timeout in milliseconds, returns undefined.
 */
export async function settledId(query: Query, table: string, timeout: number): Promise<number | undefined> {
  const [{ id }] = await query<[{ id: string }]>(`SELECT nextval('${table}_id_seq') AS id`);
  // A transaction takes its lock before it gets IDs.
  const writing = (await query<{ id: string }[]>(writingTransactions(table))).map((row) => row.id);
  const deadline = performance.now() + timeout;
  for (;;) {
    const remaining = await query<object[]>(
      `${writingTransactions(table)} AND virtualtransaction = ANY($1)`,
      [writing],
    );
    if (remaining.length === 0) return Number(id);
    if (performance.now() > deadline) return undefined;
    await pause(POLL_INTERVAL);
  }
}
