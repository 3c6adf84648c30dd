import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './concurrent-index.js';

/**
 * Partitions MCP tokens by the day of their creation. The present table becomes the partition of all days up to tomorrow;
 * the background work creates one partition per day after that. What takes long happens before without a lock: indexes are
 * created concurrently, and a validated constraint spares PostgreSQL from reading the table when it becomes a partition.
 * The swap itself changes only the catalog, and waits for its locks at most 50 ms at a time.
 *
 * The new partitions have no index on `id`, and none that is sorted by `expires_at`: only the previous release needs them, to
 * delete expired tokens, and those are in the present table.
 */
export class McpTokenPartitions1790000000025 implements MigrationInterface {
  readonly name = 'McpTokenPartitions1790000000025';
  readonly transaction = false;

  async up(connection: QueryRunner): Promise<void> {
    const asOwner = 'LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT';
    await connection.query(`
      SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true);

      CREATE OR REPLACE FUNCTION require_daily_partitions(parent text) RETURNS void ${asOwner} AS $$
        BEGIN
          IF parent NOT IN ('request_log', 'webhook_event', 'mcp_token') THEN
            RAISE EXCEPTION '% has no daily partitions.', parent;
          END IF;
        END
      $$;

      -- Creates the partition of a day. Unlike create_daily_partition, it never moves rows. It fails if the default
      -- partition has rows of the day. PostgreSQL reads the default partition, unless close_default_partition and
      -- check_default_partition were called before.
      CREATE OR REPLACE FUNCTION attach_daily_partition(parent text, day date) RETURNS void ${asOwner} AS $$
        DECLARE
          child text := parent || '_' || to_char(day, 'YYYYMMDD');
        BEGIN
          PERFORM require_daily_partitions(parent);
          EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', parent || '_default');
          EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', child, parent);
          EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, child,
            day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC');
          PERFORM open_default_partition(parent);
        END
      $$;

      -- Keeps rows of a day out of the default partition from now on.
      CREATE OR REPLACE FUNCTION close_default_partition(parent text, day date) RETURNS void ${asOwner} AS $$
        BEGIN
          PERFORM open_default_partition(parent);
          EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I CHECK (created_at < %L OR created_at >= %L) NOT VALID',
            parent || '_default', parent || '_default_day_check',
            day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC');
        END
      $$;

      -- Checks, while rows are written, that the default partition has no rows of the day.
      CREATE OR REPLACE FUNCTION check_default_partition(parent text) RETURNS void ${asOwner} AS $$
        BEGIN
          PERFORM require_daily_partitions(parent);
          EXECUTE format('ALTER TABLE %I VALIDATE CONSTRAINT %I',
            parent || '_default', parent || '_default_day_check');
        END
      $$;

      -- Allows rows of all days in the default partition.
      CREATE OR REPLACE FUNCTION open_default_partition(parent text) RETURNS void ${asOwner} AS $$
        BEGIN
          PERFORM require_daily_partitions(parent);
          EXECUTE format('ALTER TABLE %I DROP CONSTRAINT IF EXISTS %I',
            parent || '_default', parent || '_default_day_check');
        END
      $$;

      CREATE OR REPLACE FUNCTION drop_partition(parent text, child text) RETURNS void ${asOwner} AS $$
        BEGIN
          PERFORM require_daily_partitions(parent);
          IF NOT EXISTS (
            SELECT FROM pg_inherits
             WHERE inhparent = parent::regclass AND inhrelid = to_regclass(child) AND child <> parent || '_default')
          THEN RAISE EXCEPTION '% is no partition of %.', child, parent; END IF;
          EXECUTE format('DROP TABLE %I', child);
        END
      $$;

      REVOKE ALL ON FUNCTION attach_daily_partition, close_default_partition, check_default_partition,
        open_default_partition, drop_partition FROM PUBLIC;
    `);
    const swapped = await connection.query(
      `SELECT FROM pg_partitioned_table WHERE partrelid = 'mcp_token'::regclass`,
    );
    if (swapped.length > 0) return;
    for (const index of INDEXES) await createIndexConcurrently(connection, { table: 'mcp_token', ...index });
    await connection.query(
      briefly(`
        ALTER TABLE mcp_token DROP CONSTRAINT IF EXISTS mcp_token_until_check;
        EXECUTE format('ALTER TABLE mcp_token ADD CONSTRAINT mcp_token_until_check CHECK (created_at < %L) NOT VALID',
          date_trunc('day', now(), 'UTC') + interval '48 hours');`),
    );
    try {
      await connection.query('ALTER TABLE mcp_token VALIDATE CONSTRAINT mcp_token_until_check');
      await connection.query(briefly(SWAP));
    } catch (error) {
      // The constraint would refuse tokens from the day after tomorrow.
      await connection.query('ALTER TABLE mcp_token DROP CONSTRAINT mcp_token_until_check');
      throw error;
    }
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TEMPORARY TABLE kept ON COMMIT DROP AS SELECT * FROM mcp_token;
      DROP FUNCTION find_mcp_tokens;
      DROP TABLE mcp_token;
      CREATE TABLE mcp_token (
        id bigint GENERATED BY DEFAULT AS IDENTITY NOT NULL,
        token_hash bytea NOT NULL,
        client_id uuid NOT NULL,
        environment varchar(11) NOT NULL,
        external_user_id varchar(256) NOT NULL,
        phone_number_sealed bytea,
        created_at timestamptz(3) NOT NULL,
        expires_at timestamptz(3) NOT NULL,
        revoked_at timestamptz(3),
        CONSTRAINT mcp_token_pkey PRIMARY KEY (id),
        CONSTRAINT mcp_token_hash_key UNIQUE (token_hash),
        CONSTRAINT mcp_token_client_fkey FOREIGN KEY (client_id) REFERENCES api_client (id)
      );
      CREATE INDEX mcp_token_expires_at_index ON mcp_token (expires_at);
      INSERT INTO mcp_token SELECT * FROM kept;
      SELECT setval(pg_get_serial_sequence('mcp_token', 'id'), coalesce(max(id), 0) + 1, false) FROM mcp_token;

      DROP FUNCTION drop_partition, open_default_partition, check_default_partition, close_default_partition,
        attach_daily_partition;
      SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true);
      CREATE OR REPLACE FUNCTION require_daily_partitions(parent text) RETURNS void
        LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
        BEGIN
          IF parent NOT IN ('request_log', 'webhook_event') THEN
            RAISE EXCEPTION '% has no daily partitions.', parent;
          END IF;
        END
      $$;
    `);
  }
}

/** What the table needs as a partition, and on `id` what the previous release needs to delete its expired tokens. */
const INDEXES = [
  { name: 'mcp_token_until_pkey', definition: '(token_hash, created_at)', unique: true },
  { name: 'mcp_token_until_expiry_index', definition: 'USING brin (expires_at) WITH (pages_per_range = 32)' },
  { name: 'mcp_token_until_id_index', definition: '(id)' },
];

const SWAP = `
  LOCK TABLE mcp_token IN ACCESS EXCLUSIVE MODE;
  SELECT substring(pg_get_constraintdef(oid) FROM $q$'(.+?)'$q$)::timestamptz INTO STRICT cutoff
    FROM pg_constraint WHERE conrelid = 'mcp_token'::regclass AND conname = 'mcp_token_until_check';
  old := 'mcp_token_until_' || to_char(cutoff AT TIME ZONE 'UTC', 'YYYYMMDD');
  SELECT EXISTS (SELECT FROM mcp_token) INTO has_rows;
  last_id := nextval(pg_get_serial_sequence('mcp_token', 'id'));
  SELECT array_agg(DISTINCT quote_ident(rolname)) INTO roles
    FROM pg_class, aclexplode(relacl) JOIN pg_roles ON pg_roles.oid = grantee
   WHERE pg_class.oid = 'mcp_token'::regclass AND privilege_type = 'INSERT' AND grantee <> relowner;

  ALTER TABLE mcp_token
    DROP CONSTRAINT mcp_token_pkey,
    DROP CONSTRAINT mcp_token_hash_key,
    DROP CONSTRAINT mcp_token_client_fkey,
    ALTER COLUMN id DROP IDENTITY,
    ADD CONSTRAINT mcp_token_until_pkey PRIMARY KEY USING INDEX mcp_token_until_pkey;
  ALTER INDEX mcp_token_expires_at_index RENAME TO mcp_token_until_expires_at_index;
  EXECUTE format('ALTER TABLE mcp_token RENAME TO %I', old);

  CREATE SEQUENCE mcp_token_id_seq AS bigint;
  PERFORM setval('mcp_token_id_seq', last_id);
  CREATE TABLE mcp_token (
    id bigint NOT NULL DEFAULT nextval('mcp_token_id_seq'),
    token_hash bytea NOT NULL,
    client_id uuid NOT NULL,
    environment varchar(11) NOT NULL,
    external_user_id varchar(256) NOT NULL,
    phone_number_sealed bytea,
    created_at timestamptz(3) NOT NULL,
    expires_at timestamptz(3) NOT NULL,
    revoked_at timestamptz(3),
    CONSTRAINT mcp_token_pkey PRIMARY KEY (token_hash, created_at)
  ) PARTITION BY RANGE (created_at);
  ALTER SEQUENCE mcp_token_id_seq OWNED BY mcp_token.id;
  CREATE INDEX mcp_token_expires_at_index ON mcp_token USING brin (expires_at) WITH (pages_per_range = 32);
  IF has_rows THEN
    EXECUTE format('ALTER TABLE mcp_token ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%L)', old, cutoff);
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT mcp_token_until_check', old);
  ELSE
    EXECUTE format('DROP TABLE %I', old);
  END IF;
  CREATE TABLE mcp_token_default PARTITION OF mcp_token DEFAULT;
  -- The settings belong to the statement. A plan that does not depend on the parameters is made once, and skips the
  -- partitions of other days when it starts. A plan that was made while a partition was empty must not read all of it when
  -- it has grown.
  CREATE FUNCTION find_mcp_tokens(hashes bytea[], created_from timestamptz, created_before timestamptz)
    RETURNS TABLE (place integer, id bigint, client_id uuid, environment varchar, external_user_id varchar,
                   phone_number_sealed bytea, expires_at timestamptz) LANGUAGE plpgsql STABLE
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $find$
    #variable_conflict use_column
    BEGIN
      RETURN QUERY SELECT hash.place::integer, token.*
        FROM unnest(hashes) WITH ORDINALITY AS hash (value, place) CROSS JOIN LATERAL (
          SELECT id, client_id, environment, external_user_id, phone_number_sealed, expires_at FROM mcp_token
           WHERE token_hash = hash.value AND created_at >= created_from AND created_at < created_before
             AND revoked_at IS NULL
          OFFSET 0) token;
    END
  $find$;
  IF roles IS NOT NULL THEN
    EXECUTE 'GRANT SELECT, INSERT, UPDATE, DELETE ON mcp_token TO ' || array_to_string(roles, ', ');
    EXECUTE 'GRANT USAGE ON SEQUENCE mcp_token_id_seq TO ' || array_to_string(roles, ', ');
  END IF;`;

/** Returns a block that waits for its locks at most 50 ms at a time, and tries for about a minute. */
function briefly(statements: string): string {
  return `DO $block$
    DECLARE
      cutoff timestamptz;
      old text;
      has_rows boolean;
      last_id bigint;
      roles text[];
    BEGIN
      FOR attempt IN 1..60 LOOP
        BEGIN
          SET LOCAL lock_timeout = '50ms';
          ${statements}
          RETURN;
        EXCEPTION WHEN lock_not_available THEN
          IF attempt = 60 THEN RAISE; END IF;
          PERFORM pg_sleep(1);
        END;
      END LOOP;
    END
  $block$`;
}
