import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whether the accounts of users at merchants are connected, and since when. */
export class MerchantAccounts1790000000022 implements MigrationInterface {
  readonly name = 'MerchantAccounts1790000000022';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TABLE merchant_account (
        client_id uuid NOT NULL,
        external_user_id varchar(256) NOT NULL,
        merchant_id integer NOT NULL,
        state varchar(12) NOT NULL,
        since timestamptz(3) NOT NULL,
        session_id uuid,
        CONSTRAINT merchant_account_pkey PRIMARY KEY (client_id, external_user_id, merchant_id),
        CONSTRAINT merchant_account_client_fkey FOREIGN KEY (client_id) REFERENCES api_client (id),
        CONSTRAINT merchant_account_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchant (id),
        CONSTRAINT merchant_account_state_check CHECK (state IN ('connected', 'disconnected'))
      )
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query('DROP TABLE merchant_account');
  }
}
