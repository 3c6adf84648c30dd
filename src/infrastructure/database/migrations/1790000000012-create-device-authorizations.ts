import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The device flow: authorization requests, the keys that sign access tokens, and revoked access tokens. */
export class CreateDeviceAuthorizations1790000000012 implements MigrationInterface {
  readonly name = 'CreateDeviceAuthorizations1790000000012';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TABLE device_authorization (
        id uuid NOT NULL,
        client_id uuid NOT NULL,
        organization_id uuid NOT NULL,
        environment varchar(11) NOT NULL,
        device_code_hash bytea NOT NULL,
        user_code_digest bytea NOT NULL,
        user_code_sealed bytea NOT NULL,
        scopes text[] NOT NULL,
        status varchar(8) NOT NULL,
        interval_seconds integer NOT NULL,
        last_polled_at timestamptz(3),
        requested_at timestamptz(3) NOT NULL,
        expires_at timestamptz(3) NOT NULL,
        ip text NOT NULL,
        user_agent text NOT NULL,
        user_id uuid,
        decided_at timestamptz(3),
        CONSTRAINT device_authorization_pkey PRIMARY KEY (id),
        CONSTRAINT device_authorization_device_code_hash_key UNIQUE (device_code_hash),
        CONSTRAINT device_authorization_client_fkey FOREIGN KEY (client_id) REFERENCES api_client (id),
        CONSTRAINT device_authorization_organization_fkey FOREIGN KEY (organization_id)
          REFERENCES organization (id),
        CONSTRAINT device_authorization_user_fkey FOREIGN KEY (user_id) REFERENCES dashboard_user (id)
          ON DELETE SET NULL,
        CONSTRAINT device_authorization_status_check
          CHECK (status IN ('pending', 'approved', 'denied', 'redeemed'))
      );
      -- User codes are looked up only while the request is pending.
      CREATE UNIQUE INDEX device_authorization_user_code_key ON device_authorization (user_code_digest)
        WHERE status = 'pending';
      CREATE INDEX device_authorization_expires_at_index ON device_authorization (expires_at);
      CREATE INDEX device_authorization_user_index ON device_authorization (user_id);

      CREATE TABLE token_signing_key (
        kid uuid NOT NULL,
        algorithm varchar(5) NOT NULL,
        public_jwk jsonb NOT NULL,
        private_sealed bytea NOT NULL,
        created_at timestamptz(3) NOT NULL,
        signs_from timestamptz(3) NOT NULL,
        CONSTRAINT token_signing_key_pkey PRIMARY KEY (kid),
        CONSTRAINT token_signing_key_signs_from_key UNIQUE (signs_from),
        CONSTRAINT token_signing_key_algorithm_check CHECK (algorithm IN ('ES256', 'RS256'))
      );

      CREATE TABLE revoked_access_token (
        jti uuid NOT NULL,
        expires_at timestamptz(3) NOT NULL,
        CONSTRAINT revoked_access_token_pkey PRIMARY KEY (jti)
      );
      CREATE INDEX revoked_access_token_expires_at_index ON revoked_access_token (expires_at);
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`
      DROP TABLE revoked_access_token;
      DROP TABLE token_signing_key;
      DROP TABLE device_authorization;
    `);
  }
}
