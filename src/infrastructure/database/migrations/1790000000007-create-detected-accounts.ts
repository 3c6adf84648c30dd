import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The merchants at which an account of a user was detected. A client belongs to one environment. */
export class CreateDetectedAccounts1790000000007 implements MigrationInterface {
  readonly name = 'CreateDetectedAccounts1790000000007';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TABLE detected_account (
        client_id uuid NOT NULL,
        external_user_id varchar(256) NOT NULL,
        merchant_id integer NOT NULL,
        detected_at timestamptz(3) NOT NULL,
        CONSTRAINT detected_account_pkey PRIMARY KEY (client_id, external_user_id, merchant_id),
        CONSTRAINT detected_account_client_fkey FOREIGN KEY (client_id) REFERENCES api_client (id),
        CONSTRAINT detected_account_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchant (id)
      );
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`DROP TABLE detected_account;`);
  }
}
