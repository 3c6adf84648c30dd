import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './concurrent-index.js';
import { changeSchema, runBesideOthers } from './schema-change.js';

/**
 * Connections of agents that end at once, and by whom; since when an agent has an access token for certain; who may log in as a user of
 * the sandbox. The tokens of an agent end with its connection, without a change of their rows: `find_usable_mcp_tokens`, which a later
 * migration creates, asks for it. Version 0.3.0 calls `find_agent_tokens`, which a migration of the next release can drop.
 */
export class EndedConnections1790000000105 implements MigrationInterface {
  readonly name = 'EndedConnections1790000000105';
  readonly transaction = false;

  async up(connection: QueryRunner): Promise<void> {
    await changeSchema(connection, 'ALTER TABLE mcp_token ADD COLUMN IF NOT EXISTS used_at timestamptz(3)');
    await changeSchema(connection, 'ALTER TABLE agent_connection ADD COLUMN IF NOT EXISTS ended_by jsonb');
    await changeSchema(
      connection,
      "ALTER TABLE agent_setting ADD COLUMN IF NOT EXISTS sandbox_login varchar(7) NOT NULL DEFAULT 'members'",
    );
    await changeSchema(
      connection,
      `ALTER TABLE agent_setting DROP CONSTRAINT IF EXISTS agent_setting_sandbox_login_check,
         ADD CONSTRAINT agent_setting_sandbox_login_check CHECK (sandbox_login IN ('members', 'anyone')) NOT VALID`,
    );
    await runBesideOthers(
      connection,
      'ALTER TABLE agent_setting VALIDATE CONSTRAINT agent_setting_sandbox_login_check',
    );
    for (const index of INDEXES) await createIndexConcurrently(connection, index);
  }

  down(): never {
    throw new Error('Version 0.3.0 works on this schema. To go back further, restore a backup.');
  }
}

const INDEXES = [
  {
    name: 'agent_connection_agent_index',
    table: 'agent_connection',
    definition: '(client_id, agent_id, created_at, id) WHERE ended_at IS NULL',
  },
  {
    name: 'agent_connection_ended_turn_index',
    table: 'agent_connection',
    definition: '(client_id, ended_at, id) WHERE ended_by IS NOT NULL',
  },
  {
    name: 'registered_agent_kept_index',
    table: 'registered_agent',
    definition: '(client_id, unused_since DESC, id) WHERE unused_since IS NOT NULL',
  },
];
