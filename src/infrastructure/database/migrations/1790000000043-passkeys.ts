import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Passkeys of dashboard users, and which sessions began with one. */
export class Passkeys1790000000043 implements MigrationInterface {
  readonly name = 'Passkeys1790000000043';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TABLE passkey (
        id uuid NOT NULL,
        user_id uuid NOT NULL,
        credential_id bytea NOT NULL,
        public_key bytea NOT NULL,
        counter bigint NOT NULL,
        name varchar(64) NOT NULL,
        created_at timestamptz(3) NOT NULL,
        used_at timestamptz(3),
        CONSTRAINT passkey_pkey PRIMARY KEY (id),
        CONSTRAINT passkey_credential_id_key UNIQUE (credential_id),
        CONSTRAINT passkey_user_fkey FOREIGN KEY (user_id) REFERENCES dashboard_user (id) ON DELETE CASCADE
      );
      CREATE INDEX passkey_user_index ON passkey (user_id);

      CREATE TABLE passkey_challenge (
        challenge bytea NOT NULL,
        owner bytea NOT NULL,
        expires_at timestamptz(3) NOT NULL,
        CONSTRAINT passkey_challenge_pkey PRIMARY KEY (challenge)
      );
      CREATE INDEX passkey_challenge_expires_at_index ON passkey_challenge (expires_at);

      ALTER TABLE dashboard_session ADD COLUMN passkey_id uuid
        CONSTRAINT dashboard_session_passkey_fkey REFERENCES passkey (id) ON DELETE SET NULL;
      CREATE INDEX dashboard_session_passkey_index ON dashboard_session (passkey_id) WHERE passkey_id IS NOT NULL;
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`
      ALTER TABLE dashboard_session DROP COLUMN passkey_id;
      DROP TABLE passkey_challenge;
      DROP TABLE passkey;
    `);
  }
}
