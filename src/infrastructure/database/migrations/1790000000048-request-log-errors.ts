import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './concurrent-index.js';

const INDEXES = ['error_code', 'request_id'].map((column) => ({
  name: `request_log_${column}_index`,
  table: 'request_log',
  definition: `(client_id, environment, ${column}, created_at, id) WHERE ${column} IS NOT NULL`,
}));

/** Why a request failed. The indexes contain failed requests only. */
export class RequestLogErrors1790000000048 implements MigrationInterface {
  readonly name = 'RequestLogErrors1790000000048';
  readonly transaction = false;

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      ALTER TABLE request_log ADD COLUMN IF NOT EXISTS error_code varchar(64),
        ADD COLUMN IF NOT EXISTS error_message text,
        ADD COLUMN IF NOT EXISTS request_id varchar(64)
    `);
    for (const index of INDEXES) await createIndexConcurrently(connection, index);
  }

  async down(connection: QueryRunner): Promise<void> {
    for (const { name } of INDEXES) await connection.query(`DROP INDEX ${name}`);
    await connection.query(
      'ALTER TABLE request_log DROP COLUMN error_code, DROP COLUMN error_message, DROP COLUMN request_id',
    );
  }
}
