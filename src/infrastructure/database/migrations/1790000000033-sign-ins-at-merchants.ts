import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './concurrent-index.js';

/** The sign-in at the merchant that belongs to a link, so that it can be repeated or undone. */
export class SignInsAtMerchants1790000000033 implements MigrationInterface {
  readonly name = 'SignInsAtMerchants1790000000033';
  readonly transaction = false;

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      ALTER TABLE sign_in_link ADD COLUMN IF NOT EXISTS sign_in_id uuid,
                               ADD COLUMN IF NOT EXISTS sign_in_asked_at timestamptz(3)
    `);
    await createIndexConcurrently(connection, {
      name: 'sign_in_link_sign_in_index',
      table: 'sign_in_link',
      definition: '(sign_in_asked_at) WHERE sign_in_id IS NOT NULL',
    });
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`
      DROP INDEX sign_in_link_sign_in_index;
      ALTER TABLE sign_in_link DROP COLUMN sign_in_id, DROP COLUMN sign_in_asked_at;
    `);
  }
}
