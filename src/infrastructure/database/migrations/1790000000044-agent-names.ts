import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The agent that a user connected, in its tokens and in the request log, and lists of connections by host. */
export class AgentNames1790000000044 implements MigrationInterface {
  readonly name = 'AgentNames1790000000044';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      ALTER TABLE request_log ADD COLUMN agent text;
      ALTER TABLE mcp_token ADD COLUMN agent text;
      CREATE INDEX agent_connection_host_index ON agent_connection (client_id, agent_host, created_at, id)
        WHERE ended_at IS NULL;
      DROP FUNCTION find_agent_tokens;
      ${functionWith('connection_id uuid, scope text, agent text', 'connection_id, scope, agent')}
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`
      DROP FUNCTION find_agent_tokens;
      ${functionWith('connection_id uuid, scope text', 'connection_id, scope')}
      DROP INDEX agent_connection_host_index;
      ALTER TABLE mcp_token DROP COLUMN agent;
      ALTER TABLE request_log DROP COLUMN agent;
    `);
  }
}

/** Processes that run during the migration name the columns that they read, so one more does not disturb them. */
const functionWith = (columns: string, names: string): string => `
  CREATE FUNCTION find_agent_tokens(hashes bytea[], created_from timestamptz, created_before timestamptz)
    RETURNS TABLE (place integer, id bigint, client_id uuid, environment character varying,
                   external_user_id character varying, phone_number_sealed bytea, expires_at timestamptz, ${columns})
    LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
  AS $function$
    #variable_conflict use_column
    BEGIN
      RETURN QUERY SELECT hash.place::integer, token.*
        FROM unnest(hashes) WITH ORDINALITY AS hash (value, place) CROSS JOIN LATERAL (
          SELECT id, client_id, environment, external_user_id, phone_number_sealed, expires_at, ${names}
            FROM mcp_token
           WHERE token_hash = hash.value AND created_at >= created_from AND created_at < created_before
             AND revoked_at IS NULL
          OFFSET 0) token;
    END
  $function$;`;
