import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './concurrent-index.js';

const OWNER = '(client_id, external_user_id)';
const INDEXES = [
  { name: 'session_owner_index', table: 'session', definition: OWNER },
  { name: 'mcp_token_owner_index', table: 'mcp_token', definition: OWNER },
  { name: 'webhook_event_owner_index', table: 'webhook_event', definition: OWNER },
  { name: 'detected_account_detected_at_index', table: 'detected_account', definition: '(detected_at)' },
];

/** Finds the data of one user, to erase them, and detected accounts that are past retention. */
export class UserDataIndexes1790000000037 implements MigrationInterface {
  readonly name = 'UserDataIndexes1790000000037';
  readonly transaction = false;

  async up(connection: QueryRunner): Promise<void> {
    for (const index of INDEXES) await createIndexConcurrently(connection, index);
  }

  async down(connection: QueryRunner): Promise<void> {
    for (const { name } of INDEXES) await connection.query(`DROP INDEX ${name}`);
  }
}
