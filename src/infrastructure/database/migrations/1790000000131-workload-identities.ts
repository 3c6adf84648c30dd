import type { MigrationInterface, QueryRunner } from 'typeorm';
import { changeSchema } from './schema-change.js';

/** Keys whose programs prove their identity with tokens of another issuer, and the tokens that were used. */
export class WorkloadIdentities1790000000131 implements MigrationInterface {
  readonly name = 'WorkloadIdentities1790000000131';
  readonly transaction = false;

  async up(connection: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await changeSchema(connection, statement);
  }

  down(): never {
    throw new Error('Version 0.3.0 works on this schema. To go back further, restore a backup.');
  }
}

const STATEMENTS = [
  'ALTER TABLE api_key ADD COLUMN IF NOT EXISTS trust jsonb',
  `CREATE TABLE IF NOT EXISTS used_assertion (
    digest bytea NOT NULL,
    expires_at timestamptz(3) NOT NULL,
    CONSTRAINT used_assertion_pkey PRIMARY KEY (digest)
  )`,
  'CREATE INDEX IF NOT EXISTS used_assertion_expires_at_index ON used_assertion (expires_at)',
];
