import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Of whom the stored response to a request with an `Idempotency-Key` is, and which token it contains, as digests. */
export class IdempotentUsers1790000000081 implements MigrationInterface {
  readonly name = 'IdempotentUsers1790000000081';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      ALTER TABLE idempotency_key ADD COLUMN user_hash bytea, ADD COLUMN token_hash bytea;
      CREATE INDEX idempotency_key_user_index ON idempotency_key (user_hash) WHERE user_hash IS NOT NULL;
      CREATE INDEX idempotency_key_token_index ON idempotency_key (token_hash) WHERE token_hash IS NOT NULL;
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query('ALTER TABLE idempotency_key DROP COLUMN user_hash, DROP COLUMN token_hash');
  }
}
