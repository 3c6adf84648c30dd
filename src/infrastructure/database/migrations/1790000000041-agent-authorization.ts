import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Agents that log in: authorizations, connections and their tokens. */
export class AgentAuthorization1790000000041 implements MigrationInterface {
  readonly name = 'AgentAuthorization1790000000041';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TABLE agent_setting (
        client_id uuid NOT NULL,
        agents varchar(5) NOT NULL,
        hosts text[] NOT NULL,
        login_url text,
        updated_at timestamptz(3) NOT NULL,
        CONSTRAINT agent_setting_pkey PRIMARY KEY (client_id),
        CONSTRAINT agent_setting_client_fkey FOREIGN KEY (client_id) REFERENCES api_client (id),
        CONSTRAINT agent_setting_agents_check CHECK (agents IN ('off', 'hosts', 'any'))
      );

      CREATE TABLE registered_agent (
        id uuid NOT NULL,
        client_id uuid NOT NULL,
        kind varchar(10) NOT NULL,
        name varchar(200) NOT NULL,
        redirect_uris text[] NOT NULL,
        created_at timestamptz(3) NOT NULL,
        unused_since timestamptz(3),
        CONSTRAINT registered_agent_pkey PRIMARY KEY (id),
        CONSTRAINT registered_agent_client_fkey FOREIGN KEY (client_id) REFERENCES api_client (id),
        CONSTRAINT registered_agent_kind_check CHECK (kind IN ('dynamic', 'registered'))
      );
      CREATE INDEX registered_agent_client_index ON registered_agent (client_id) WHERE kind = 'registered';
      CREATE INDEX registered_agent_unused_since_index ON registered_agent (unused_since);

      CREATE TABLE agent_authorization (
        id uuid NOT NULL,
        client_id uuid NOT NULL,
        agent_id text NOT NULL,
        agent_name varchar(200) NOT NULL,
        agent_kind varchar(10) NOT NULL,
        redirect_uri text NOT NULL,
        state text,
        code_challenge varchar(43) NOT NULL,
        scopes text[] NOT NULL,
        browser_hash bytea NOT NULL,
        status varchar(9) NOT NULL,
        external_user_id varchar(256),
        phone_number_sealed bytea,
        ticket_hash bytea,
        code_hash bytea,
        code_expires_at timestamptz(3),
        connection_id uuid,
        created_at timestamptz(3) NOT NULL,
        expires_at timestamptz(3) NOT NULL,
        CONSTRAINT agent_authorization_pkey PRIMARY KEY (id),
        CONSTRAINT agent_authorization_code_hash_key UNIQUE (code_hash),
        CONSTRAINT agent_authorization_client_fkey FOREIGN KEY (client_id) REFERENCES api_client (id),
        CONSTRAINT agent_authorization_status_check
          CHECK (status IN ('pending', 'completed', 'confirmed', 'approved', 'declined', 'redeemed', 'ended'))
      );
      CREATE INDEX agent_authorization_user_index ON agent_authorization (client_id, external_user_id);
      CREATE INDEX agent_authorization_expires_at_index ON agent_authorization (expires_at);

      CREATE TABLE agent_connection (
        id uuid NOT NULL,
        client_id uuid NOT NULL,
        external_user_id varchar(256) NOT NULL,
        phone_number_sealed bytea,
        agent_id text NOT NULL,
        agent_name varchar(200) NOT NULL,
        agent_host text NOT NULL,
        scopes text[] NOT NULL,
        created_at timestamptz(3) NOT NULL,
        used_at timestamptz(3) NOT NULL,
        expires_at timestamptz(3) NOT NULL,
        ended_at timestamptz(3),
        CONSTRAINT agent_connection_pkey PRIMARY KEY (id),
        CONSTRAINT agent_connection_client_fkey FOREIGN KEY (client_id) REFERENCES api_client (id)
      );
      CREATE INDEX agent_connection_user_index ON agent_connection (client_id, external_user_id);
      CREATE INDEX agent_connection_client_index ON agent_connection (client_id, created_at, id) WHERE ended_at IS NULL;
      CREATE INDEX agent_connection_expires_at_index ON agent_connection (expires_at);

      CREATE TABLE agent_refresh_token (
        token_hash bytea NOT NULL,
        connection_id uuid NOT NULL,
        scopes text[] NOT NULL,
        access_token_hash bytea NOT NULL,
        created_at timestamptz(3) NOT NULL,
        access_expires_at timestamptz(3) NOT NULL,
        rotated_at timestamptz(3),
        CONSTRAINT agent_refresh_token_pkey PRIMARY KEY (token_hash),
        CONSTRAINT agent_refresh_token_access_token_hash_key UNIQUE (access_token_hash),
        CONSTRAINT agent_refresh_token_connection_fkey FOREIGN KEY (connection_id)
          REFERENCES agent_connection (id) ON DELETE CASCADE
      );
      CREATE INDEX agent_refresh_token_connection_index ON agent_refresh_token (connection_id);

      CREATE TABLE agent_connection_code (
        code_digest bytea NOT NULL,
        client_id uuid NOT NULL,
        external_user_id varchar(256) NOT NULL,
        phone_number_sealed bytea,
        expires_at timestamptz(3) NOT NULL,
        CONSTRAINT agent_connection_code_pkey PRIMARY KEY (code_digest),
        CONSTRAINT agent_connection_code_client_fkey FOREIGN KEY (client_id) REFERENCES api_client (id)
      );
      CREATE INDEX agent_connection_code_user_index ON agent_connection_code (client_id, external_user_id);
      CREATE INDEX agent_connection_code_expires_at_index ON agent_connection_code (expires_at);

      ALTER TABLE mcp_token ADD COLUMN connection_id uuid, ADD COLUMN scope text;

      -- Like find_mcp_tokens, which the previous release uses, with the columns of tokens that agents got by logging in.
      CREATE FUNCTION find_agent_tokens(hashes bytea[], created_from timestamptz, created_before timestamptz)
        RETURNS TABLE (place integer, id bigint, client_id uuid, environment character varying,
                       external_user_id character varying, phone_number_sealed bytea, expires_at timestamptz,
                       connection_id uuid, scope text)
        LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
      AS $function$
        #variable_conflict use_column
        BEGIN
          RETURN QUERY SELECT hash.place::integer, token.*
            FROM unnest(hashes) WITH ORDINALITY AS hash (value, place) CROSS JOIN LATERAL (
              SELECT id, client_id, environment, external_user_id, phone_number_sealed, expires_at, connection_id, scope
                FROM mcp_token
               WHERE token_hash = hash.value AND created_at >= created_from AND created_at < created_before
                 AND revoked_at IS NULL
              OFFSET 0) token;
        END
      $function$;
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`
      DROP FUNCTION find_agent_tokens;
      ALTER TABLE mcp_token DROP COLUMN connection_id, DROP COLUMN scope;
      DROP TABLE agent_connection_code;
      DROP TABLE agent_refresh_token;
      DROP TABLE agent_connection;
      DROP TABLE agent_authorization;
      DROP TABLE registered_agent;
      DROP TABLE agent_setting;
    `);
  }
}
