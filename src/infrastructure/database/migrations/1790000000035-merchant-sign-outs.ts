import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Sign-ins that the merchant gateway has to end, because the account was unlinked. */
export class MerchantSignOuts1790000000035 implements MigrationInterface {
  readonly name = 'MerchantSignOuts1790000000035';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TABLE merchant_sign_out (
        sign_in_id uuid NOT NULL,
        created_at timestamptz(3) NOT NULL,
        asked_at timestamptz(3),
        CONSTRAINT merchant_sign_out_pkey PRIMARY KEY (sign_in_id)
      );
      CREATE INDEX merchant_sign_out_created_at_index ON merchant_sign_out (created_at);
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query('DROP TABLE merchant_sign_out');
  }
}
