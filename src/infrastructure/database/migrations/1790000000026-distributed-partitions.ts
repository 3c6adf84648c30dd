import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Lets the functions for daily partitions work if Citus distributes the table, and adds one that measures relations, because
 * PostgreSQL knows nothing about the shards of a distributed table.
 */
export class DistributedPartitions1790000000026 implements MigrationInterface {
  readonly name = 'DistributedPartitions1790000000026';

  async up(connection: QueryRunner): Promise<void> {
    const asOwner = 'LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT';
    await connection.query(`
      -- pg_temp comes last, so that no temporary table of the caller takes the place of a table.
      SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true);

      -- As before, but for Citus every SELECT needs a column.
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
          END IF;
          EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', others);
          EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I)', others) INTO has_rows;
          IF has_rows THEN
            RAISE EXCEPTION 'The default partition received a row meanwhile.' USING ERRCODE = 'lock_not_available';
          END IF;
          EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', child, parent);
          EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, child,
            day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC');
        END
      $$;

      CREATE OR REPLACE FUNCTION drop_stray_table(parent text, stray text) RETURNS void ${asOwner} AS $$
        DECLARE
          has_rows boolean;
        BEGIN
          PERFORM require_daily_partitions(parent);
          IF NOT starts_with(stray, parent || '_stray_') THEN RAISE EXCEPTION '% is no stray table.', stray; END IF;
          EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I)', stray) INTO has_rows;
          IF has_rows THEN RAISE EXCEPTION '% still has rows.', stray; END IF;
          EXECUTE format('DROP TABLE %I', stray);
        END
      $$;

      -- Measures tables, including the shards of those that are distributed: bytes with indexes, PostgreSQL's estimate of the
      -- rows, and the blocks of the table, or of its largest shard.
      CREATE FUNCTION relation_sizes(relations regclass[])
        RETURNS TABLE (relation regclass, bytes bigint, entries bigint, blocks bigint) ${asOwner} AS $$
        DECLARE
          -- reltuples is as old as the last ANALYZE; the statistics also count later rows.
          measures text := 'pg_total_relation_size(pg_class.oid) AS bytes,
            greatest(reltuples, pg_stat_get_live_tuples(pg_class.oid), 0)::bigint AS entries,
            pg_relation_size(pg_class.oid) / current_setting(''block_size'')::bigint AS blocks';
          shards jsonb := '[]';
        BEGIN
          -- Without Citus, PL/pgSQL never reads the second condition, which names a table of Citus.
          IF to_regclass('pg_catalog.pg_dist_partition') IS NULL THEN
            NULL;
          ELSIF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = ANY (relations)) THEN
            -- One command for each node, which runs as the user of this function.
            SELECT jsonb_agg(element) INTO shards
              FROM run_command_on_all_nodes(format(
                     'SELECT coalesce(jsonb_agg(shard), ''[]'') FROM (SELECT logicalrelid::regclass::text AS parent, %s
                        FROM pg_dist_shard
                        JOIN pg_class ON pg_class.oid = to_regclass(shard_name(logicalrelid, shardid))
                       WHERE logicalrelid = ANY (array_remove(ARRAY(SELECT to_regclass(name)
                                                  FROM unnest(%L::text[]) name), NULL))) shard',
                     measures, (SELECT array_agg(format('%I.%I', nspname, relname)) FROM pg_class
                                  JOIN pg_namespace ON pg_namespace.oid = relnamespace
                                 WHERE pg_class.oid = ANY (relations)))) answer
             CROSS JOIN LATERAL jsonb_array_elements(
               CASE WHEN answer.success THEN answer.result::jsonb ELSE jsonb_build_array(NULL) END) element;
            IF shards @> '[null]' THEN
              RAISE EXCEPTION 'A node of the cluster is unavailable.' USING ERRCODE = 'connection_failure';
            END IF;
          END IF;
          RETURN QUERY EXECUTE format(
            'SELECT oid::regclass, sum(part.bytes)::bigint, sum(part.entries)::bigint, max(part.blocks)::bigint
               FROM (SELECT oid, %s FROM pg_class WHERE oid = ANY ($1)
                     UNION ALL
                     SELECT to_regclass(parent), shard.bytes, shard.entries, shard.blocks
                       FROM jsonb_to_recordset($2) AS shard (parent text, bytes bigint, entries bigint, blocks bigint)) part
              GROUP BY 1', measures) USING relations, coalesce(shards, '[]');
        END
      $$;
      REVOKE ALL ON FUNCTION relation_sizes FROM PUBLIC;
    `);
  }

  /** The functions that were replaced work as before. */
  async down(connection: QueryRunner): Promise<void> {
    await connection.query('DROP FUNCTION relation_sizes');
  }
}
