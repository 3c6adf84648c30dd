import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What version 0.4.0 changes in the schema of version 0.3.0. A new database has it from the start. Version 0.3.0 names the columns
 * that it reads, so more of them do not disturb its processes.
 */
export class Upgrade1790000000090 implements MigrationInterface {
  readonly name = 'Upgrade1790000000090';
  readonly transaction = false;

  async up(connection: QueryRunner): Promise<void> {
    await storeDaysInRows(connection);
    const done = await connection.query(`SELECT FROM pg_class WHERE oid = to_regclass('outgoing_email')`);
    // The process may have ended after the statements, and before the migration was recorded.
    if (done.length === 0) await connection.query(STATEMENTS);
  }

  down(): never {
    throw new Error('Version 0.3.0 works on this schema. To go back further, restore a backup.');
  }
}

/**
 * Stores all days of the request log in rows. Up to 0.3.0, old days could be stored in the columns of `citus_columnar`. Each day is
 * converted in a transaction of its own, so an interrupted migration continues where it was.
 */
async function storeDaysInRows(connection: QueryRunner): Promise<void> {
  const days: { day: string }[] = await connection.query(
    `SELECT right(child.relname, 8) AS day
       FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid JOIN pg_am ON pg_am.oid = relam
      WHERE inhparent = 'request_log'::regclass AND amname = 'columnar' ORDER BY day`,
  );
  for (const { day } of days) {
    await connection.query(`SELECT build_row_partition('request_log', '${day}')`);
    await connection.query(`SELECT exchange_columnar_partition('request_log', '${day}')`);
  }
}

/** They are sent together, so they run in one transaction. */
const STATEMENTS = `
  DROP FUNCTION build_row_partition, build_columnar_partition, exchange_columnar_partition, drop_daily_partition;

  -- Emails are stored before they are sent, and so are requests for a new password.
  CREATE TABLE outgoing_email (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    kind varchar(10) NOT NULL,
    about varchar(128),
    content_sealed bytea,
    created_at timestamptz(3) NOT NULL,
    due_at timestamptz(3) NOT NULL,
    expires_at timestamptz(3) NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    outcome varchar(9),
    reply varchar(16),
    CONSTRAINT outgoing_email_pkey PRIMARY KEY (id),
    CONSTRAINT outgoing_email_user_fkey FOREIGN KEY (user_id) REFERENCES dashboard_user (id) ON DELETE CASCADE
  );
  CREATE INDEX outgoing_email_due_at_index ON outgoing_email (due_at) WHERE outcome IS NULL;
  CREATE INDEX outgoing_email_user_index ON outgoing_email (user_id, kind);
  CREATE INDEX outgoing_email_about_index ON outgoing_email (about) WHERE about IS NOT NULL;
  CREATE INDEX outgoing_email_expires_at_index ON outgoing_email (expires_at);
  CREATE TABLE password_reset_request (
    id uuid NOT NULL,
    email_sealed bytea NOT NULL,
    created_at timestamptz(3) NOT NULL,
    CONSTRAINT password_reset_request_pkey PRIMARY KEY (id)
  );
  CREATE INDEX password_reset_request_created_at_index ON password_reset_request (created_at);

  -- A lane remembers which share of its attempts fails for reasons that have nothing to do with its width.
  ALTER TABLE webhook_lane
    ADD COLUMN usual_failures double precision NOT NULL DEFAULT 0,
    ADD COLUMN allowed_failures double precision NOT NULL DEFAULT 0;

  -- The tokens of an agent end with its connection, without a change of their rows. used_at says since when an agent has an
  -- access token for certain, and sandbox_login who may log in as any user of the sandbox.
  ALTER TABLE mcp_token ADD COLUMN used_at timestamptz(3);
  ALTER TABLE agent_setting ADD COLUMN sandbox_login varchar(7) NOT NULL DEFAULT 'members'
    CONSTRAINT agent_setting_sandbox_login_check CHECK (sandbox_login IN ('members', 'anyone'));
  DROP FUNCTION find_agent_tokens;
  CREATE FUNCTION find_agent_tokens(hashes bytea[], created_from timestamptz, created_before timestamptz)
    RETURNS TABLE (place integer, id bigint, client_id uuid, environment character varying,
                   external_user_id character varying, phone_number_sealed bytea, expires_at timestamptz,
                   connection_id uuid, scope text, agent text, is_used boolean)
    LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
  AS $$
  #variable_conflict use_column
  BEGIN
    RETURN QUERY SELECT hash.place::integer, found.*
      FROM unnest(hashes) WITH ORDINALITY AS hash (value, place) CROSS JOIN LATERAL (
        SELECT id, client_id, environment, external_user_id, phone_number_sealed, expires_at, connection_id, scope,
               agent, used_at IS NOT NULL
          FROM mcp_token token
         WHERE token_hash = hash.value AND created_at >= created_from AND created_at < created_before
           AND revoked_at IS NULL AND (connection_id IS NULL OR EXISTS (
             SELECT FROM agent_connection connection
              WHERE connection.id = token.connection_id AND connection.ended_at IS NULL
                AND NOT EXISTS (SELECT FROM agent_setting setting
                                 WHERE setting.client_id = connection.client_id AND setting.agents = 'off')))
        OFFSET 0) found;
  END $$;

  -- Forms of pages that browsers can send again, and the browser that used the link to set a password.
  CREATE TABLE submitted_form (
    form_hash bytea NOT NULL,
    outcome_sealed bytea,
    created_at timestamptz(3) NOT NULL,
    CONSTRAINT submitted_form_pkey PRIMARY KEY (form_hash)
  );
  CREATE INDEX submitted_form_created_at_index ON submitted_form (created_at);
  ALTER TABLE password_link ADD COLUMN used_by bytea;

  SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true);
  -- Finds values in the statistics of the planner, which keep the most common values and a sample of all others. Statistics
  -- without identifiers are no alternative: estimates for users with many rows would be wrong. Statistics are searched as
  -- text. A value inside another text, or inside bytes, which are hexadecimal digits there, is found if it has more than 5
  -- characters.
  CREATE FUNCTION columns_with_statistics_of(value text)
    RETURNS TABLE (tablename name, attname name, inherited boolean)
    LANGUAGE sql STABLE SET search_path FROM CURRENT
  AS $$
  SELECT tablename, attname, inherited FROM pg_stats
   WHERE schemaname = current_schema() AND EXISTS (
     SELECT FROM unnest(most_common_vals::text::text[] || histogram_bounds::text::text[]) AS kept
      WHERE kept = value OR length(value) > 5
        AND (position(value IN kept) > 0 OR position(encode(convert_to(value, 'UTF8'), 'hex') IN kept) > 0))
  $$;

  -- Removes a value from the statistics. ANALYZE leaves the statistics of an empty table as they are, so they are cleared,
  -- which only PostgreSQL 18 can do.
  CREATE FUNCTION forget_statistics(value text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
  AS $$
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

  -- Of whom the stored response to a request with an Idempotency-Key is, and which token it contains, as digests.
  ALTER TABLE idempotency_key ADD COLUMN user_hash bytea, ADD COLUMN token_hash bytea;
  CREATE INDEX idempotency_key_user_index ON idempotency_key (user_hash) WHERE user_hash IS NOT NULL;
  CREATE INDEX idempotency_key_token_index ON idempotency_key (token_hash) WHERE token_hash IS NOT NULL;

  -- Where the audit logs of organizations are sent, and how far.
  CREATE TABLE audit_stream (
    organization_id uuid NOT NULL,
    url text NOT NULL,
    format text NOT NULL,
    authorization_sealed bytea,
    position bigint NOT NULL,
    position_hash bytea NOT NULL,
    due_at timestamptz(3) NOT NULL,
    failing_since timestamptz(3),
    problem text,
    paused_at timestamptz(3),
    CONSTRAINT audit_stream_pkey PRIMARY KEY (organization_id),
    CONSTRAINT audit_stream_organization_fkey FOREIGN KEY (organization_id) REFERENCES organization (id)
  );

  -- Why the last test login does not prove that a login is recent.
  ALTER TABLE saml_configuration ADD COLUMN staleness text;
`;
