import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The tokens of an agent end with its connection, without a change of their rows. `used_at` says since when an agent has an access
 * token for certain, and `sandbox_login` who may log in as any user of the sandbox.
 */
export class AgentConnectionEnds1790000000074 implements MigrationInterface {
  readonly name = 'AgentConnectionEnds1790000000074';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      ALTER TABLE mcp_token ADD COLUMN used_at timestamptz(3);
      ALTER TABLE agent_setting ADD COLUMN sandbox_login varchar(7) NOT NULL DEFAULT 'members'
        CONSTRAINT agent_setting_sandbox_login_check CHECK (sandbox_login IN ('members', 'anyone'));
      DROP FUNCTION find_agent_tokens;
      ${functionWith(
        'agent text, is_used boolean',
        'agent, used_at IS NOT NULL',
        `AND (connection_id IS NULL OR EXISTS (
                 SELECT FROM agent_connection connection
                  WHERE connection.id = token.connection_id AND connection.ended_at IS NULL
                    AND NOT EXISTS (SELECT FROM agent_setting setting
                                     WHERE setting.client_id = connection.client_id AND setting.agents = 'off')))`,
      )}
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`
      DROP FUNCTION find_agent_tokens;
      ${functionWith('agent text', 'agent', '')}
      ALTER TABLE agent_setting DROP COLUMN sandbox_login;
      ALTER TABLE mcp_token DROP COLUMN used_at;
    `);
  }
}

/** Processes that run during the migration name the columns that they read, so one more does not disturb them. */
const functionWith = (columns: string, names: string, condition: string): string => `
  CREATE FUNCTION find_agent_tokens(hashes bytea[], created_from timestamptz, created_before timestamptz)
    RETURNS TABLE (place integer, id bigint, client_id uuid, environment character varying,
                   external_user_id character varying, phone_number_sealed bytea, expires_at timestamptz,
                   connection_id uuid, scope text, ${columns})
    LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
  AS $function$
    #variable_conflict use_column
    BEGIN
      RETURN QUERY SELECT hash.place::integer, found.*
        FROM unnest(hashes) WITH ORDINALITY AS hash (value, place) CROSS JOIN LATERAL (
          SELECT id, client_id, environment, external_user_id, phone_number_sealed, expires_at, connection_id, scope, ${names}
            FROM mcp_token token
           WHERE token_hash = hash.value AND created_at >= created_from AND created_at < created_before
             AND revoked_at IS NULL ${condition}
          OFFSET 0) found;
    END
  $function$;`;
