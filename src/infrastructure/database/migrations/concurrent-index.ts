import type { QueryRunner } from 'typeorm';

export interface ConcurrentIndex {
  readonly name: string;
  readonly table: string;
  /** What follows the table in `CREATE INDEX`: columns, options and condition. */
  readonly definition: string;
}

/**
 * Creates an index without blocking writers. The migration must set `transaction = false`, because PostgreSQL refuses
 * CREATE INDEX CONCURRENTLY in a transaction, and can be repeated if it was interrupted. An index of a partitioned table
 * is created for each partition, and attached; that of a partition that is created meanwhile is created with it.
 */
export async function createIndexConcurrently(
  connection: QueryRunner,
  { name, table, definition }: ConcurrentIndex,
): Promise<void> {
  const partitions = await connection.query(
    `SELECT child.relname AS partition, left(child.relname || '_${name}', 63) AS index
       FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid WHERE inhparent = '${table}'::regclass`,
  );
  if (partitions.length === 0) return createValidIndex(connection, name, table, definition);
  // From now on, a new partition gets the index.
  await connection.query(`CREATE INDEX IF NOT EXISTS ${name} ON ONLY ${table} ${definition}`);
  for (const { partition, index } of partitions) {
    const attached = await connection.query(
      `SELECT FROM pg_inherits JOIN pg_index ON indexrelid = inhrelid
        WHERE inhparent = '${name}'::regclass AND indrelid = to_regclass('${partition}')`,
    );
    if (attached.length > 0) continue;
    await createValidIndex(connection, index, partition, definition);
    await connection.query(`ALTER INDEX ${name} ATTACH PARTITION ${index}`);
  }
}

/** An interrupted CREATE INDEX CONCURRENTLY leaves an invalid index. */
async function createValidIndex(
  connection: QueryRunner,
  name: string,
  table: string,
  definition: string,
): Promise<void> {
  const invalid = await connection.query(
    `SELECT FROM pg_index WHERE indexrelid = to_regclass('${name}') AND NOT indisvalid`,
  );
  if (invalid.length > 0) await connection.query(`DROP INDEX CONCURRENTLY ${name}`);
  await connection.query(`CREATE INDEX CONCURRENTLY IF NOT EXISTS ${name} ON ${table} ${definition}`);
}
