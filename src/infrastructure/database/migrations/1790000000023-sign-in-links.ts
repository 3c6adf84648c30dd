import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Links with which users sign in to merchants at the request of an agent. */
export class SignInLinks1790000000023 implements MigrationInterface {
  readonly name = 'SignInLinks1790000000023';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TABLE sign_in_link (
        id uuid NOT NULL,
        token_hash bytea NOT NULL,
        client_id uuid NOT NULL,
        environment varchar(11) NOT NULL,
        external_user_id varchar(256) NOT NULL,
        merchant_id integer NOT NULL,
        status varchar(9) NOT NULL,
        attempts smallint NOT NULL DEFAULT 0,
        challenge_sealed bytea,
        session_id uuid,
        created_at timestamptz(3) NOT NULL,
        expires_at timestamptz(3) NOT NULL,
        finished_at timestamptz(3),
        CONSTRAINT sign_in_link_pkey PRIMARY KEY (id),
        CONSTRAINT sign_in_link_token_hash_key UNIQUE (token_hash),
        CONSTRAINT sign_in_link_client_fkey FOREIGN KEY (client_id) REFERENCES api_client (id),
        CONSTRAINT sign_in_link_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchant (id),
        CONSTRAINT sign_in_link_status_check CHECK (status IN ('pending', 'completed', 'failed', 'cancelled'))
      );
      CREATE INDEX sign_in_link_expires_at_index ON sign_in_link (expires_at);
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query('DROP TABLE sign_in_link');
  }
}
