import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './concurrent-index.js';

const ID_INDEX = 'USING brin (id) WITH (pages_per_range = 32, autosummarize = on)';

/**
 * Lets a partition of the request log be stored in columns, by functions with the privileges of their owner. Columnar
 * tables cannot have a BRIN index, and every partition has the indexes of its parent. So the index by ID moves from the
 * parent to the partitions that are stored in rows.
 */
export class ColumnarPartitions1790000000027 implements MigrationInterface {
  readonly name = 'ColumnarPartitions1790000000027';
  readonly transaction = false;

  async up(connection: QueryRunner): Promise<void> {
    const asOwner = 'LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT';
    await connection.query(`
      -- pg_temp comes last, so that no temporary table of the caller takes the place of a table.
      SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true);

      -- As before, but partitions of the request log get their own index by ID.
      CREATE OR REPLACE FUNCTION create_daily_partition(parent text, day date) RETURNS void ${asOwner} AS $$
        DECLARE
          child text := parent || '_' || to_char(day, 'YYYYMMDD');
          others text := parent || '_default';
          has_rows boolean;
        BEGIN
          PERFORM require_daily_partitions(parent);
          IF EXISTS (SELECT FROM pg_inherits WHERE inhparent = parent::regclass AND inhrelid = to_regclass(child))
            THEN RETURN;
          END IF;
          EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I)', others) INTO has_rows;
          IF has_rows THEN
            -- In the order in which queries lock the tables.
            EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', parent);
            EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', parent, others);
            EXECUTE format('ALTER TABLE %I RENAME TO %I', others,
              parent || '_stray_' || to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYYMMDD"t"HH24MISSUS'));
            EXECUTE format('CREATE TABLE %I PARTITION OF %I DEFAULT', others, parent);
            IF parent = 'request_log' THEN EXECUTE format('CREATE INDEX ON %I ${ID_INDEX}', others); END IF;
          END IF;
          EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', others);
          EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I)', others) INTO has_rows;
          IF has_rows THEN
            RAISE EXCEPTION 'The default partition received a row meanwhile.' USING ERRCODE = 'lock_not_available';
          END IF;
          EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', child, parent);
          IF parent = 'request_log' THEN EXECUTE format('CREATE INDEX ON %I ${ID_INDEX}', child); END IF;
          EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, child,
            day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC');
        END
      $$;

      -- Copies the partition of a closed day into <partition>_columnar, with everything that a partition needs, so that
      -- exchange_columnar_partition has nothing to build. Entries of a client are stored together, in chunks of 1,000:
      -- a page then reads few chunks.
      CREATE FUNCTION build_columnar_partition(parent text, day date) RETURNS void ${asOwner} AS $$
        DECLARE
          child text := parent || '_' || to_char(day, 'YYYYMMDD');
          copy text := child || '_columnar';
          definition text;
        BEGIN
          PERFORM require_daily_partitions(parent);
          EXECUTE format('DROP TABLE IF EXISTS %I', copy);
          PERFORM set_config('columnar.chunk_group_row_limit', '1000', true),
                  set_config('columnar.stripe_row_limit', '20000', true);
          EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS) USING columnar', copy, parent);
          -- Without Citus, PL/pgSQL never reads the second condition, which names a table of Citus.
          IF to_regclass('pg_catalog.pg_dist_partition') IS NULL THEN
            NULL;
          ELSIF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = parent::regclass) THEN
            PERFORM set_config('citus.multi_shard_modify_mode', 'sequential', true);
            EXECUTE format('SELECT create_distributed_table(%L, column_to_column_name(logicalrelid, partkey), colocate_with => %L)
                              FROM pg_dist_partition WHERE logicalrelid = %L::regclass', copy, parent, parent);
          END IF;
          -- With this constraint, PostgreSQL does not read the table when it becomes a partition.
          EXECUTE format('ALTER TABLE %I ADD CONSTRAINT day_check CHECK (created_at >= %L AND created_at < %L)', copy,
            day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC');
          EXECUTE format('INSERT INTO %I SELECT * FROM %I ORDER BY client_id, environment, created_at, id', copy, child);
          FOR definition IN
            SELECT CASE WHEN indisprimary
                     THEN format('ALTER TABLE %I ADD %s', copy, pg_get_constraintdef(pg_constraint.oid))
                     ELSE regexp_replace(pg_get_indexdef(indexrelid), ' INDEX \\S+ ON (ONLY )?\\S+ ', format(' INDEX ON %I ', copy))
                   END
              FROM pg_index LEFT JOIN pg_constraint ON conindid = indexrelid AND contype = 'p'
             WHERE indrelid = parent::regclass
          LOOP
            EXECUTE definition;
          END LOOP;
          EXECUTE format('CREATE INDEX ON %I (id)', copy);
          EXECUTE format('ANALYZE %I', copy);
        END
      $$;

      -- Puts the copy in the place of the partition. Returns false if the partition has received an entry meanwhile.
      CREATE FUNCTION exchange_columnar_partition(parent text, day date) RETURNS boolean ${asOwner} AS $$
        DECLARE
          child text := parent || '_' || to_char(day, 'YYYYMMDD');
          copy text := child || '_columnar';
          is_complete boolean;
        BEGIN
          PERFORM require_daily_partitions(parent);
          -- Only writers of entries of this day wait, and there are none unless a clock is wrong.
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
        END
      $$;
      REVOKE ALL ON FUNCTION build_columnar_partition, exchange_columnar_partition FROM PUBLIC;
    `);
    await indexPartitions(connection);
    await connection.query('DROP INDEX IF EXISTS request_log_id_index');
    // A partition that was created meanwhile may have had only an index of the parent.
    await indexPartitions(connection);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`
      DROP FUNCTION exchange_columnar_partition, build_columnar_partition;
      DO $$
        DECLARE
          index regclass;
        BEGIN
          FOR index IN
            SELECT indexrelid FROM pg_index JOIN pg_inherits ON inhrelid = indrelid JOIN pg_class ON oid = indexrelid
             WHERE inhparent = 'request_log'::regclass AND relam = (SELECT oid FROM pg_am WHERE amname = 'brin')
          LOOP
            EXECUTE format('DROP INDEX %s', index);
          END LOOP;
        END
      $$;
      CREATE INDEX request_log_id_index ON request_log ${ID_INDEX};
    `);
  }
}

/** Creates the index of each partition that has none of its own. */
async function indexPartitions(connection: QueryRunner): Promise<void> {
  const partitions: { partition: string }[] = await connection.query(
    `SELECT relname AS partition FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
      WHERE inhparent = 'request_log'::regclass AND NOT EXISTS (
        SELECT FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
         WHERE indrelid = child.oid AND indisvalid AND pg_class.relam = (SELECT oid FROM pg_am WHERE amname = 'brin')
           AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = indexrelid))
      ORDER BY relname`,
  );
  for (const { partition } of partitions) {
    await createIndexConcurrently(connection, {
      name: `${partition}_id_index`,
      table: partition,
      definition: ID_INDEX,
    });
  }
}
