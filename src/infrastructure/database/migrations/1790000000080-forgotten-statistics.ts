import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Removes a value from the statistics of the planner, which keep the most common values and a sample of all others. Statistics
 * without identifiers are no alternative: estimates for users with many rows would be wrong.
 */
export class ForgottenStatistics1790000000080 implements MigrationInterface {
  readonly name = 'ForgottenStatistics1790000000080';

  async up(connection: QueryRunner): Promise<void> {
    // Statistics are searched as text. A value inside another text, or inside bytes, which are hexadecimal digits there, is found
    // if it has more than 5 characters. ANALYZE leaves the statistics of an empty table as they are, so they are cleared, which only
    // PostgreSQL 18 can do.
    await connection.query(`
      SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true);

      CREATE FUNCTION columns_with_statistics_of(value text)
      RETURNS TABLE (tablename name, attname name, inherited boolean)
      LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
        SELECT tablename, attname, inherited FROM pg_stats
         WHERE schemaname = current_schema() AND EXISTS (
           SELECT FROM unnest(most_common_vals::text::text[] || histogram_bounds::text::text[]) AS kept
            WHERE kept = value OR length(value) > 5
              AND (position(value IN kept) > 0 OR position(encode(convert_to(value, 'UTF8'), 'hex') IN kept) > 0))
      $$;

      CREATE FUNCTION forget_statistics(value text) RETURNS void
      LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
      DECLARE
        found record;
      BEGIN
        FOR found IN SELECT DISTINCT tablename, attname FROM columns_with_statistics_of(value) LOOP
          EXECUTE format('ANALYZE %I (%I)', found.tablename, found.attname);
        END LOOP;
        IF to_regproc('pg_catalog.pg_clear_attribute_stats') IS NULL THEN RETURN; END IF;
        FOR found IN SELECT * FROM columns_with_statistics_of(value) LOOP
          PERFORM pg_clear_attribute_stats(current_schema(), found.tablename, found.attname, found.inherited);
        END LOOP;
      END $$;
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`
      DROP FUNCTION forget_statistics;
      DROP FUNCTION columns_with_statistics_of;
    `);
  }
}
