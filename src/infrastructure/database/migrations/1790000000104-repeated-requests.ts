import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './concurrent-index.js';
import { changeSchema } from './schema-change.js';

/** Forms of pages that browsers can send again, whose stored responses are, which tokens they contain, and when limits expire. */
export class RepeatedRequests1790000000104 implements MigrationInterface {
  readonly name = 'RepeatedRequests1790000000104';
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
  `CREATE TABLE IF NOT EXISTS submitted_form (
    form_hash bytea NOT NULL,
    outcome_sealed bytea,
    created_at timestamptz(3) NOT NULL,
    user_hash bytea,
    CONSTRAINT submitted_form_pkey PRIMARY KEY (form_hash)
  )`,
  'CREATE INDEX IF NOT EXISTS submitted_form_created_at_index ON submitted_form (created_at)',
  'CREATE INDEX IF NOT EXISTS submitted_form_user_index ON submitted_form (user_hash) WHERE user_hash IS NOT NULL',
  `ALTER TABLE idempotency_key ADD COLUMN IF NOT EXISTS user_hash bytea,
    ADD COLUMN IF NOT EXISTS token_hash bytea`,
];
const INDEXES = [
  {
    name: 'idempotency_key_user_index',
    table: 'idempotency_key',
    definition: '(user_hash) WHERE user_hash IS NOT NULL',
  },
  {
    name: 'idempotency_key_token_index',
    table: 'idempotency_key',
    definition: '(token_hash) WHERE token_hash IS NOT NULL',
  },
  { name: 'attempt_count_expire_index', table: 'attempt_count', definition: '(expire)' },
];
