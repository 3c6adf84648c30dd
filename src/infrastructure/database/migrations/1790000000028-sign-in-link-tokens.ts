import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './concurrent-index.js';

/** The MCP token with which a sign-in link was created, and the links of a user in the order of their creation. */
export class SignInLinkTokens1790000000028 implements MigrationInterface {
  readonly name = 'SignInLinkTokens1790000000028';
  readonly transaction = false;

  async up(connection: QueryRunner): Promise<void> {
    await connection.query('ALTER TABLE sign_in_link ADD COLUMN IF NOT EXISTS mcp_token_hash bytea');
    await createIndexConcurrently(connection, {
      name: 'sign_in_link_owner_index',
      table: 'sign_in_link',
      definition: '(client_id, external_user_id, created_at)',
    });
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`
      DROP INDEX sign_in_link_owner_index;
      ALTER TABLE sign_in_link DROP COLUMN mcp_token_hash;
    `);
  }
}
