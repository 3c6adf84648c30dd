import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The responses to requests with an `Idempotency-Key` header. */
export class IdempotencyKeys1790000000038 implements MigrationInterface {
  readonly name = 'IdempotencyKeys1790000000038';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TABLE idempotency_key (
        key_hash bytea NOT NULL,
        request_hash bytea NOT NULL,
        response_sealed bytea NOT NULL,
        created_at timestamptz(3) NOT NULL,
        CONSTRAINT idempotency_key_pkey PRIMARY KEY (key_hash)
      );
      CREATE INDEX idempotency_key_created_at_index ON idempotency_key (created_at);
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query('DROP TABLE idempotency_key');
  }
}
