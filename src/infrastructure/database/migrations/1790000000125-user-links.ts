import type { MigrationInterface, QueryRunner } from 'typeorm';
import { changeSchema, runBesideOthers } from './schema-change.js';

/** Constraints that say which values the new columns have. */
const CHECKS: readonly (readonly [table: string, name: string, condition: string])[] = [
  [
    'agent_authorization',
    'agent_authorization_purpose_check',
    "(purpose = 'agent' AND continue_at IS NULL) OR (purpose IN ('sign_in_link', 'user_page') AND continue_at IS NOT NULL)",
  ],
  ['sign_in_link', 'sign_in_link_proof_check', "proof IN ('phone', 'partner_login')"],
  ['sign_in_link', 'sign_in_link_source_check', "source IN ('agent', 'backend', 'dashboard')"],
  [
    'sign_in_link',
    'sign_in_link_cancelled_by_check',
    "cancelled_by IN ('user', 'agent', 'backend', 'dashboard', 'other_link', 'revocation')",
  ],
];

/**
 * Logins of users for other purposes than connecting an agent, links of backends and of the dashboard, and the hosts that links return
 * to. Version 0.3.0 sees the logins as requests of an agent without an address, which it cannot continue, and never finds a link that
 * requires a login, because nobody knows a token with its hash.
 */
export class UserLinks1790000000125 implements MigrationInterface {
  readonly name = 'UserLinks1790000000125';
  readonly transaction = false;

  async up(connection: QueryRunner): Promise<void> {
    await changeSchema(
      connection,
      "ALTER TABLE agent_authorization ADD COLUMN IF NOT EXISTS purpose varchar(12) NOT NULL DEFAULT 'agent', ADD COLUMN IF NOT EXISTS continue_at text",
    );
    await changeSchema(
      connection,
      "ALTER TABLE agent_setting ADD COLUMN IF NOT EXISTS return_hosts text[] NOT NULL DEFAULT '{}'",
    );
    await changeSchema(
      connection,
      "ALTER TABLE sign_in_link ADD COLUMN IF NOT EXISTS proof varchar(13) NOT NULL DEFAULT 'phone', ADD COLUMN IF NOT EXISTS source varchar(9) NOT NULL DEFAULT 'agent', ADD COLUMN IF NOT EXISTS return_url text, ADD COLUMN IF NOT EXISTS metadata jsonb, ADD COLUMN IF NOT EXISTS cancelled_by varchar(10)",
    );
    for (const [table, name, condition] of CHECKS) {
      await changeSchema(
        connection,
        `ALTER TABLE ${table} DROP CONSTRAINT IF EXISTS ${name}, ADD CONSTRAINT ${name} CHECK (${condition}) NOT VALID`,
      );
      await runBesideOthers(connection, `ALTER TABLE ${table} VALIDATE CONSTRAINT ${name}`);
    }
  }

  down(): never {
    throw new Error('Version 0.3.0 works on this schema. To go back further, restore a backup.');
  }
}
