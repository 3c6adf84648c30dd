/**
 * Makes the sequence of a table's IDs independent of the table. Otherwise it would change its schema with the local table. Citus
 * refuses to change the owner of a sequence that a distributed table uses, even after that table was dropped, so a sequence
 * without an owner is left alone.
 */
export async function disownSequence(
  query: <Result>(statement: string, parameters?: unknown[]) => Promise<Result>,
  table: string,
): Promise<void> {
  const [{ isOwned }] = await query<[{ isOwned: boolean }]>(
    `SELECT pg_get_serial_sequence($1, 'id') IS NOT NULL AS "isOwned"`,
    [table],
  );
  if (isOwned) await query(`ALTER SEQUENCE ${table}_id_seq OWNED BY NONE`);
}
