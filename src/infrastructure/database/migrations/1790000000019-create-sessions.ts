import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Sessions of users in the client SDK. Email addresses and phone numbers are encrypted. */
export class CreateSessions1790000000019 implements MigrationInterface {
  readonly name = 'CreateSessions1790000000019';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TABLE session (
        id uuid NOT NULL,
        client_id uuid NOT NULL,
        type varchar(16) NOT NULL,
        external_user_id varchar(256) NOT NULL,
        card_id varchar(256),
        email_sealed bytea,
        phone_number_sealed bytea,
        metadata jsonb NOT NULL DEFAULT '{}',
        created_at timestamptz(3) NOT NULL,
        expires_at timestamptz(3) NOT NULL,
        CONSTRAINT session_pkey PRIMARY KEY (id),
        CONSTRAINT session_client_fkey FOREIGN KEY (client_id) REFERENCES api_client (id)
      );
      CREATE INDEX session_expires_at_index ON session (expires_at);
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`DROP TABLE session;`);
  }
}
