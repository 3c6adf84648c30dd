import type { MigrationInterface, QueryRunner } from 'typeorm';
import { changeSchema } from './schema-change.js';

/**
 * Agents that are removed although they have many connections. Version 0.3.0, whose processes call `find_agent_tokens`, refuses the access
 * tokens of connections that have ended, too, although their rows do not change.
 */
export class RemovedAgents1790000000120 implements MigrationInterface {
  readonly name = 'RemovedAgents1790000000120';
  readonly transaction = false;

  async up(connection: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await changeSchema(connection, statement);
    const known = await connection.query(
      `SELECT FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND proname = 'find_agent_tokens'`,
    );
    // A database that this release creates does not have the function.
    if (known.length > 0) await changeSchema(connection, OF_LAST_RELEASE);
  }

  down(): never {
    throw new Error('Version 0.3.0 works on this schema. To go back further, restore a backup.');
  }
}

const STATEMENTS = [
  `CREATE TABLE IF NOT EXISTS removed_agent (
    agent_id text NOT NULL,
    client_id uuid NOT NULL,
    removed_at timestamptz(3) NOT NULL,
    removed_by jsonb NOT NULL,
    CONSTRAINT removed_agent_pkey PRIMARY KEY (agent_id),
    CONSTRAINT removed_agent_client_fkey FOREIGN KEY (client_id) REFERENCES api_client (id)
  )`,

  `CREATE OR REPLACE FUNCTION find_usable_mcp_tokens(hashes bytea[], created_from timestamptz, created_before timestamptz)
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
                AND NOT EXISTS (SELECT FROM removed_agent removed WHERE removed.agent_id = connection.agent_id)
                AND NOT EXISTS (
                  SELECT FROM agent_setting setting
                   WHERE setting.client_id = connection.client_id
                     AND (setting.agents = 'off' OR setting.agents = 'hosts'
                          -- Only a metadata document says whose program listens on the user's own machine.
                          AND CASE WHEN connection.agent_id LIKE 'https://%'
                                    AND (connection.agent_host LIKE '%:' OR connection.agent_host IN ('localhost', '127.0.0.1', '[::1]'))
                                   THEN substring(connection.agent_id FROM '^https://([[][^]]*]|[^/:]*)')
                                   ELSE connection.agent_host END <> ALL (setting.hosts)
                          AND NOT EXISTS (
                            SELECT FROM registered_agent registered
                             WHERE registered.id::text = connection.agent_id AND registered.kind = 'registered'
                               AND registered.client_id = connection.client_id)))))
        OFFSET 0) found;
  END $$`,
];

const OF_LAST_RELEASE = `
  CREATE OR REPLACE FUNCTION find_agent_tokens(hashes bytea[], created_from timestamptz, created_before timestamptz)
    RETURNS TABLE (place integer, id bigint, client_id uuid, environment character varying,
                   external_user_id character varying, phone_number_sealed bytea, expires_at timestamptz,
                   connection_id uuid, scope text, agent text)
    LANGUAGE sql STABLE
  AS $$
    SELECT place, id, client_id, environment, external_user_id, phone_number_sealed, expires_at, connection_id, scope, agent
      FROM find_usable_mcp_tokens(hashes, created_from, created_before)
  $$`;
