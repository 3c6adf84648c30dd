import type { MigrationInterface, QueryRunner } from 'typeorm';
import { advisoryLockKey, pollForLock } from '../advisory-lock.js';
import { changeSchema, runBesideOthers } from './schema-change.js';

/** The lock of processes that change the days of the request log, also of version 0.3.0. */
const ROTATION = 'request-logs.rotation';

/**
 * Stores all days of the request log in rows. Version 0.3.0 could store old days in the columns of `citus_columnar`. Its processes,
 * which may still run, keep trying, so their functions do nothing from now on. A migration of the next release can drop the functions.
 */
export class DaysInRows1790000000101 implements MigrationInterface {
  readonly name = 'DaysInRows1790000000101';
  readonly transaction = false;

  async up(connection: QueryRunner): Promise<void> {
    const known = await connection.query(
      `SELECT FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND proname = 'exchange_columnar_partition'`,
    );
    // A database that this release creates has none of the functions.
    if (known.length === 0) return;
    await withoutRotation(connection, async () => {
      for (const statement of FUNCTIONS) await changeSchema(connection, statement);
      for (let days = await daysOf(connection); days.length > 0; days = await daysOf(connection))
        for (const day of days) {
          await runBesideOthers(connection, `SELECT build_row_partition('request_log', '${day}')`);
          // With a constraint that it has no rows of the day, PostgreSQL does not read the default partition while nobody can use the table.
          await changeSchema(connection, `SELECT close_default_partition('request_log', '${day}')`);
          await runBesideOthers(connection, `SELECT check_default_partition('request_log')`);
          // If a late entry has arrived meanwhile, the day is still stored in columns, and is copied again. Nobody but writers of late
          // entries waits while the entries are counted, so this takes as long as it needs.
          await changeSchema(connection, `SELECT exchange_columnar_partition('request_log', '${day}')`, 0);
        }
      await changeSchema(connection, `SELECT open_default_partition('request_log')`);
      const copies: { name: string }[] = await connection.query(
        `SELECT copy.relname AS name FROM pg_class copy JOIN pg_class parent USING (relnamespace)
          WHERE parent.oid = to_regclass('request_log') AND copy.relkind = 'r' AND copy.relname ~ '^request_log_\\d{8}_columnar$'`,
      );
      for (const { name } of copies) await changeSchema(connection, `DROP TABLE IF EXISTS ${name}`);
    });
  }

  down(): never {
    throw new Error('Version 0.3.0 works on this schema. To go back further, restore a backup.');
  }
}

/** Returns the days that are stored in columns, oldest first. */
async function daysOf(connection: QueryRunner): Promise<string[]> {
  const days: { day: string }[] = await connection.query(
    `SELECT to_char(to_date(right(child.relname, 8), 'YYYYMMDD'), 'YYYY-MM-DD') AS day
       FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid JOIN pg_am ON pg_am.oid = relam
      WHERE inhparent = to_regclass('request_log') AND amname = 'columnar' ORDER BY 1`,
  );
  return days.map(({ day }) => day);
}

/** Polls for the lock: a statement that waits for it would hold a snapshot. */
async function withoutRotation(connection: QueryRunner, work: () => Promise<void>): Promise<void> {
  const isAcquired = async (): Promise<boolean> => {
    const [row] = await connection.query('SELECT pg_try_advisory_lock($1) AS acquired', [
      advisoryLockKey(ROTATION),
    ]);
    return row.acquired;
  };
  await pollForLock(ROTATION, isAcquired);
  try {
    await work();
  } finally {
    await connection.query('SELECT pg_advisory_unlock($1)', [advisoryLockKey(ROTATION)]);
  }
}

const FUNCTIONS = [
  `CREATE OR REPLACE FUNCTION build_columnar_partition(parent text, day date) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
  AS $$
  BEGIN
    PERFORM require_daily_partitions(parent);
  END $$`,

  `CREATE OR REPLACE FUNCTION exchange_columnar_partition(parent text, day date) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
  AS $$
  DECLARE
    child text := parent || '_' || to_char(day, 'YYYYMMDD');
    copy text := child || '_columnar';
    is_complete boolean;
  BEGIN
    PERFORM require_daily_partitions(parent);
    IF to_regclass(quote_ident(copy)) IS NULL THEN RETURN false; END IF;
    EXECUTE format('LOCK TABLE %I IN SHARE ROW EXCLUSIVE MODE', child);
    EXECUTE format('SELECT (SELECT count(*) FROM %I) = (SELECT count(*) FROM %I)', child, copy) INTO is_complete;
    IF NOT is_complete THEN RETURN false; END IF;
    EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', parent);
    EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', parent, child);
    EXECUTE format('DROP TABLE %I', child);
    EXECUTE format('ALTER TABLE %I RENAME TO %I', copy, child);
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, child,
      day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC');
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT day_check', child);
    RETURN true;
  END $$`,
];
