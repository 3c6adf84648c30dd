import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './concurrent-index.js';
import { changeSchema } from './schema-change.js';

/**
 * Background work that takes turns by client, continues where it was, and says why it fails. A lane remembers which share of its
 * attempts fails for reasons that have nothing to do with its width, and an endpoint and an account when they were removed.
 */
export class BackgroundWork1790000000107 implements MigrationInterface {
  readonly name = 'BackgroundWork1790000000107';
  readonly transaction = false;

  async up(connection: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await changeSchema(connection, statement);
    for (const index of INDEXES) await createIndexConcurrently(connection, index);
  }

  down(): never {
    throw new Error('Version 0.3.0 works on this schema. To go back further, restore a backup.');
  }
}

const STATEMENTS = [
  `CREATE TABLE IF NOT EXISTS job_failure (
    job varchar(64) NOT NULL,
    cause varchar(256) NOT NULL,
    first_at timestamptz(3) NOT NULL,
    last_at timestamptz(3) NOT NULL,
    CONSTRAINT job_failure_pkey PRIMARY KEY (job, cause)
  )`,
  `ALTER TABLE user_erasure ADD COLUMN IF NOT EXISTS claimed_at timestamptz(3),
    ADD COLUMN IF NOT EXISTS renewed_columns text[] NOT NULL DEFAULT '{}'`,
  `ALTER TABLE merchant_sign_out
    ADD COLUMN IF NOT EXISTS client_id uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000'`,
  'ALTER TABLE merchant_account ADD COLUMN IF NOT EXISTS unlinked_at timestamptz(3)',
  'ALTER TABLE webhook_endpoint ADD COLUMN IF NOT EXISTS deleted_at timestamptz(3)',
  'ALTER TABLE webhook_recovery ADD COLUMN IF NOT EXISTS position jsonb',
  `ALTER TABLE webhook_lane ADD COLUMN IF NOT EXISTS usual_failures double precision NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS allowed_failures double precision NOT NULL DEFAULT 0`,

  // Statistics of the planner contain values. ANALYZE leaves the statistics of an empty table as they are, so they are cleared, which
  // only PostgreSQL 18 can do.
  `CREATE OR REPLACE FUNCTION forget_statistics(of_table text, of_column text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
  AS $$
  DECLARE
    analyzed text;
    has_rows boolean;
  BEGIN
    EXECUTE format('ANALYZE %I (%I)', of_table, of_column);
    IF to_regproc('pg_catalog.pg_clear_attribute_stats') IS NULL THEN RETURN; END IF;
    FOR analyzed IN
      SELECT of_table UNION SELECT relname FROM pg_partition_tree(to_regclass(quote_ident(of_table))) JOIN pg_class ON oid = relid
    LOOP
      EXECUTE format('SELECT EXISTS (SELECT FROM %I)', analyzed) INTO has_rows;
      IF NOT has_rows THEN
        PERFORM pg_clear_attribute_stats(schemaname, tablename, attname, inherited)
           FROM pg_stats WHERE schemaname = current_schema() AND tablename = analyzed AND attname = of_column;
      END IF;
    END LOOP;
  END $$`,
  'REVOKE ALL ON FUNCTION forget_statistics FROM PUBLIC',
];
const INDEXES = [
  {
    name: 'user_erasure_waiting_index',
    table: 'user_erasure',
    definition: '(client_id, due_at) WHERE finished_at IS NULL',
  },
  { name: 'user_erasure_turn_index', table: 'user_erasure', definition: '(client_id, claimed_at)' },
  {
    name: 'merchant_sign_out_turn_index',
    table: 'merchant_sign_out',
    definition: '(client_id, asked_at NULLS FIRST, created_at)',
  },
];
