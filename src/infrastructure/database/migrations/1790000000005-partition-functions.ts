import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Functions that maintain the daily partitions with the privileges of their owner, so that the role of the running
 * service does not have to own any table.
 */
export class PartitionFunctions1790000000005 implements MigrationInterface {
  readonly name = 'PartitionFunctions1790000000005';

  async up(connection: QueryRunner): Promise<void> {
    const asOwner = 'LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT';
    await connection.query(`
      -- pg_temp comes last, so that no temporary table of the caller takes the place of a table.
      SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true);

      CREATE FUNCTION require_daily_partitions(parent text) RETURNS void ${asOwner} AS $$
        BEGIN
          IF parent NOT IN ('request_log', 'webhook_event') THEN
            RAISE EXCEPTION '% has no daily partitions.', parent;
          END IF;
        END
      $$;

      -- Creates the partition of a day. If the default partition holds rows, it is first replaced by an empty one: to
      -- attach a partition, PostgreSQL locks and reads the default partition, however large it is. The rows then wait in
      -- <parent>_stray_<time> for move_stray_rows.
      CREATE FUNCTION create_daily_partition(parent text, day date) RETURNS void ${asOwner} AS $$
        DECLARE
          child text := parent || '_' || to_char(day, 'YYYYMMDD');
          others text := parent || '_default';
          has_rows boolean;
        BEGIN
          PERFORM require_daily_partitions(parent);
          IF EXISTS (SELECT FROM pg_inherits WHERE inhparent = parent::regclass AND inhrelid = to_regclass(child))
            THEN RETURN;
          END IF;
          EXECUTE format('SELECT EXISTS (SELECT FROM %I)', others) INTO has_rows;
          IF has_rows THEN
            -- In the order in which queries lock the tables.
            EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', parent);
            EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', parent, others);
            EXECUTE format('ALTER TABLE %I RENAME TO %I', others,
              parent || '_stray_' || to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYYMMDD"t"HH24MISSUS'));
            EXECUTE format('CREATE TABLE %I PARTITION OF %I DEFAULT', others, parent);
          END IF;
          EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', others);
          EXECUTE format('SELECT EXISTS (SELECT FROM %I)', others) INTO has_rows;
          IF has_rows THEN
            RAISE EXCEPTION 'The default partition received a row meanwhile.' USING ERRCODE = 'lock_not_available';
          END IF;
          EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', child, parent);
          EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, child,
            day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC');
        END
      $$;

      -- Moves the rows in these blocks of a stray table into the partitions of their days.
      CREATE FUNCTION move_stray_rows(parent text, stray text, first_block bigint, end_block bigint)
        RETURNS void ${asOwner} AS $$
        BEGIN
          PERFORM require_daily_partitions(parent);
          IF NOT starts_with(stray, parent || '_stray_') THEN RAISE EXCEPTION '% is no stray table.', stray; END IF;
          EXECUTE format(
            'WITH moved AS (DELETE FROM %I WHERE ctid >= %L::tid AND ctid < %L::tid RETURNING *)
             INSERT INTO %I SELECT * FROM moved',
            stray, format('(%s,0)', first_block), format('(%s,0)', end_block), parent);
        END
      $$;

      CREATE FUNCTION drop_stray_table(parent text, stray text) RETURNS void ${asOwner} AS $$
        DECLARE
          has_rows boolean;
        BEGIN
          PERFORM require_daily_partitions(parent);
          IF NOT starts_with(stray, parent || '_stray_') THEN RAISE EXCEPTION '% is no stray table.', stray; END IF;
          EXECUTE format('SELECT EXISTS (SELECT FROM %I)', stray) INTO has_rows;
          IF has_rows THEN RAISE EXCEPTION '% still has rows.', stray; END IF;
          EXECUTE format('DROP TABLE %I', stray);
        END
      $$;

      CREATE FUNCTION drop_daily_partition(parent text, day date) RETURNS void ${asOwner} AS $$
        BEGIN
          PERFORM require_daily_partitions(parent);
          EXECUTE format('DROP TABLE %I', parent || '_' || to_char(day, 'YYYYMMDD'));
        END
      $$;

      REVOKE ALL ON FUNCTION require_daily_partitions, create_daily_partition, move_stray_rows, drop_stray_table,
        drop_daily_partition FROM PUBLIC;
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(
      `DROP FUNCTION drop_daily_partition, drop_stray_table, move_stray_rows, create_daily_partition,
         require_daily_partitions`,
    );
  }
}
