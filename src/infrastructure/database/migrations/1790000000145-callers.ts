import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './concurrent-index.js';
import { changeSchema } from './schema-change.js';

/** Who sent a request, and the entries of an API key. Entries that version 0.3.0 writes have neither. */
export class Callers1790000000145 implements MigrationInterface {
  readonly name = 'Callers1790000000145';
  readonly transaction = false;

  async up(connection: QueryRunner): Promise<void> {
    await changeSchema(
      connection,
      `ALTER TABLE request_log ADD COLUMN IF NOT EXISTS secret_version integer,
        ADD COLUMN IF NOT EXISTS ip_address text, ADD COLUMN IF NOT EXISTS user_agent text`,
    );
    await createIndexConcurrently(connection, {
      name: 'request_log_api_key_index',
      table: 'request_log',
      definition: '(client_id, environment, api_key, created_at, id) WHERE api_key IS NOT NULL',
    });
  }

  down(): never {
    throw new Error('Version 0.3.0 works on this schema. To go back further, restore a backup.');
  }
}
