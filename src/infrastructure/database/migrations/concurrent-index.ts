import { Logger } from '@nestjs/common';
import type { QueryRunner } from 'typeorm';
import { isTransient } from '../sql-state.js';
import { changeSchema, runBesideOthers } from './schema-change.js';

export interface ConcurrentIndex {
  readonly name: string;
  readonly table: string;
  /** The part after the table in `CREATE INDEX`: columns, options and condition. */
  readonly definition: string;
}

interface Partition {
  readonly partition: string;
  /** The name of the partition's index. */
  readonly index: string;
}

/**
 * Creates an index without blocking writers. The migration must set `transaction = false`, because PostgreSQL refuses
 * CREATE INDEX CONCURRENTLY in a transaction, and can be repeated if it was interrupted. An index of a partitioned table
 * is created for each partition, and attached. This can take hours, during which partitions are created and dropped.
 */
export async function createIndexConcurrently(
  connection: QueryRunner,
  index: ConcurrentIndex,
): Promise<void> {
  const { name, table, definition } = index;
  const [isPartitioned] = await partitionsOf(connection, index);
  if (!isPartitioned) return createValidIndex(connection, name, table, definition);
  // From now on, a new partition gets the index.
  await changeSchema(connection, `CREATE INDEX IF NOT EXISTS ${name} ON ONLY ${table} ${definition}`);
  let next = await partitionWithout(connection, index);
  while (next) {
    try {
      await indexPartition(connection, index, next);
    } catch (error) {
      // Unless the partition was dropped meanwhile.
      if ((await partitionWithout(connection, index))?.partition === next.partition) throw error;
    }
    next = await partitionWithout(connection, index);
  }
  if (await isInvalid(connection, name))
    new Logger('Database').warn('Each partition has the index, but PostgreSQL does not mark it as valid', {
      index: name,
    });
}

async function indexPartition(
  connection: QueryRunner,
  { name, definition }: ConcurrentIndex,
  { partition, index }: Partition,
): Promise<void> {
  await createValidIndex(connection, index, partition, definition);
  await changeSchema(connection, `ALTER INDEX ${name} ATTACH PARTITION ${index}`);
}

/** @param condition continues the WHERE clause */
function partitionsOf(
  connection: QueryRunner,
  { name, table }: ConcurrentIndex,
  condition = '',
): Promise<Partition[]> {
  return connection.query(
    `SELECT child.relname AS partition, left(child.relname || '_${name}', 63) AS index
       FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid WHERE inhparent = '${table}'::regclass ${condition}`,
  );
}

/**
 * Returns a partition whose index is not attached; undefined if there is none. The default partition, which is never dropped, comes
 * last: PostgreSQL marks the index of the table as valid when the last index is attached, but not when the last partition without one
 * is dropped.
 */
async function partitionWithout(
  connection: QueryRunner,
  index: ConcurrentIndex,
): Promise<Partition | undefined> {
  const [next] = await partitionsOf(
    connection,
    index,
    `AND NOT EXISTS (SELECT FROM pg_index JOIN pg_inherits attached ON attached.inhrelid = indexrelid
                      WHERE indrelid = child.oid AND attached.inhparent = '${index.name}'::regclass)
      ORDER BY pg_get_expr(child.relpartbound, child.oid) = 'DEFAULT', child.relname LIMIT 1`,
  );
  return next;
}

async function createValidIndex(
  connection: QueryRunner,
  name: string,
  table: string,
  definition: string,
): Promise<void> {
  try {
    // An interrupted CREATE INDEX CONCURRENTLY leaves an invalid index.
    if (await isInvalid(connection, name))
      await runBesideOthers(connection, `DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
    await runBesideOthers(
      connection,
      `CREATE INDEX CONCURRENTLY IF NOT EXISTS ${name} ON ${table} ${definition}`,
    );
  } catch (error) {
    // A transaction that it waits for may wait for it, such as a VACUUM.
    if (!isTransient(error)) throw error;
    await createValidIndex(connection, name, table, definition);
  }
}

async function isInvalid(connection: QueryRunner, name: string): Promise<boolean> {
  const invalid = await connection.query(
    `SELECT FROM pg_index WHERE indexrelid = to_regclass('${name}') AND NOT indisvalid`,
  );
  return invalid.length > 0;
}
