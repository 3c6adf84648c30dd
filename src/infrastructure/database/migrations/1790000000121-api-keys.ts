import type { MigrationInterface, QueryRunner } from 'typeorm';
import { changeSchema } from './schema-change.js';

/** API keys, and when and from where secrets are used. Version 0.3.0 refuses keys, and accepts secrets that only sign. */
export class ApiKeys1790000000121 implements MigrationInterface {
  readonly name = 'ApiKeys1790000000121';
  readonly transaction = false;

  async up(connection: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await changeSchema(connection, statement);
  }

  down(): never {
    throw new Error('Version 0.3.0 works on this schema. To go back further, restore a backup.');
  }
}

const STATEMENTS = [
  `CREATE TABLE IF NOT EXISTS api_key (
    id uuid NOT NULL,
    client_id uuid NOT NULL,
    name varchar(100) NOT NULL,
    scopes text[] NOT NULL,
    ip_ranges text[] NOT NULL,
    digest bytea NOT NULL,
    creator_id uuid,
    created_by text NOT NULL,
    created_at timestamptz(3) NOT NULL,
    last_used_at timestamptz(3),
    last_used_ip text,
    expires_at timestamptz(3),
    rotated_at timestamptz(3),
    revoked_at timestamptz(3),
    CONSTRAINT api_key_pkey PRIMARY KEY (id),
    CONSTRAINT api_key_digest_key UNIQUE (digest),
    CONSTRAINT api_key_client_fkey FOREIGN KEY (client_id) REFERENCES api_client (id)
  )`,
  `CREATE UNIQUE INDEX IF NOT EXISTS api_key_name_key ON api_key (client_id, name)
    WHERE rotated_at IS NULL AND revoked_at IS NULL`,
  'CREATE INDEX IF NOT EXISTS api_key_client_index ON api_key (client_id, created_at, id)',
  'ALTER TABLE api_client ADD COLUMN IF NOT EXISTS signing_only_since timestamptz(3)',
  'ALTER TABLE api_secret ADD COLUMN IF NOT EXISTS last_used_at timestamptz(3), ADD COLUMN IF NOT EXISTS last_used_ip text',
  'ALTER TABLE request_log ADD COLUMN IF NOT EXISTS api_key varchar(100)',
];
