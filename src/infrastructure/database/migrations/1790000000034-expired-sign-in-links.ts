import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './concurrent-index.js';

/** Expired links whose event is not published yet. Links that expired before this migration get no event. */
export class ExpiredSignInLinks1790000000034 implements MigrationInterface {
  readonly name = 'ExpiredSignInLinks1790000000034';
  readonly transaction = false;

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(
      `UPDATE sign_in_link SET finished_at = expires_at
        WHERE status = 'pending' AND finished_at IS NULL AND expires_at <= now()`,
    );
    await createIndexConcurrently(connection, {
      name: 'sign_in_link_open_index',
      table: 'sign_in_link',
      definition: `(expires_at) WHERE status = 'pending' AND finished_at IS NULL`,
    });
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query('DROP INDEX sign_in_link_open_index');
  }
}
