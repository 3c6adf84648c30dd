import type { MigrationInterface, QueryRunner } from 'typeorm';
import { changeSchema } from './schema-change.js';

/**
 * Whether an owner has approved the identity provider of a session, an identity and a passkey, and which revision of a provider was
 * tested. Rows of version 0.3.0 count as approved: their rights stay what they were.
 */
export class ApprovedLogins1790000000103 implements MigrationInterface {
  readonly name = 'ApprovedLogins1790000000103';
  readonly transaction = false;

  async up(connection: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await changeSchema(connection, statement);
  }

  down(): never {
    throw new Error('Version 0.3.0 works on this schema. To go back further, restore a backup.');
  }
}

const STATEMENTS = [
  `ALTER TABLE dashboard_session ADD COLUMN IF NOT EXISTS is_owner_approved boolean NOT NULL DEFAULT true,
    ADD COLUMN IF NOT EXISTS used_password boolean NOT NULL DEFAULT false,
    ADD COLUMN IF NOT EXISTS ends_by timestamptz(3), ADD COLUMN IF NOT EXISTS used_at timestamptz(3)`,
  'ALTER TABLE passkey ADD COLUMN IF NOT EXISTS is_owner_approved boolean NOT NULL DEFAULT true',
  'ALTER TABLE sso_identity ADD COLUMN IF NOT EXISTS is_owner_approved boolean NOT NULL DEFAULT true',
  `ALTER TABLE saml_configuration ADD COLUMN IF NOT EXISTS staleness text,
    ADD COLUMN IF NOT EXISTS revision integer NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS metadata_attempted_at timestamptz(3)`,
  'ALTER TABLE sso_attempt ADD COLUMN IF NOT EXISTS configuration_revision integer NOT NULL DEFAULT 0',
  'ALTER TABLE allowlisted_domain ADD COLUMN IF NOT EXISTS proof_attempted_at timestamptz(3)',
];
