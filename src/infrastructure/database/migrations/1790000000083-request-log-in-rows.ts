import type { MigrationInterface, QueryRunner } from 'typeorm';
import { ColumnarPartitions1790000000027 } from './1790000000027-columnar-partitions.js';

/**
 * Stores all days of the request log in rows. Up to 0.3.0, old days could be stored in the columns of `citus_columnar`. Each day is
 * converted in a transaction of its own, so an interrupted migration continues where it was.
 */
export class RequestLogInRows1790000000083 implements MigrationInterface {
  readonly name = 'RequestLogInRows1790000000083';
  readonly transaction = false;

  async up(connection: QueryRunner): Promise<void> {
    const days: { day: string }[] = await connection.query(
      `SELECT right(child.relname, 8) AS day
         FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid JOIN pg_am ON pg_am.oid = relam
        WHERE inhparent = 'request_log'::regclass AND amname = 'columnar' ORDER BY day`,
    );
    for (const { day } of days) {
      await connection.query(`SELECT build_row_partition('request_log', '${day}')`);
      await connection.query(`SELECT exchange_columnar_partition('request_log', '${day}')`);
    }
    await connection.query(
      'DROP FUNCTION IF EXISTS build_row_partition, build_columnar_partition, exchange_columnar_partition',
    );
  }

  /** Creates the functions again, and leaves all days in rows. */
  async down(connection: QueryRunner): Promise<void> {
    await new ColumnarPartitions1790000000027().up(connection);
    await connection.query(`
      DO $do$
        BEGIN
          EXECUTE replace(replace(pg_get_functiondef('build_columnar_partition(text, date)'::regprocedure),
                                  'build_columnar_partition', 'build_row_partition'), ' USING columnar', '');
        END
      $do$;
      REVOKE ALL ON FUNCTION build_row_partition FROM PUBLIC;
    `);
  }
}
