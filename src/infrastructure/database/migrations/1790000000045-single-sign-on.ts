import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Proved domains, and logins through identity providers with OpenID Connect. */
export class SingleSignOn1790000000045 implements MigrationInterface {
  readonly name = 'SingleSignOn1790000000045';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      ALTER TABLE allowlisted_domain ADD COLUMN proved_at timestamptz(3),
        ADD COLUMN proof_checked_at timestamptz(3),
        ADD COLUMN proof_missing_since timestamptz(3);
      CREATE UNIQUE INDEX allowlisted_domain_proved_key ON allowlisted_domain (domain) WHERE proved_at IS NOT NULL;

      ALTER TABLE saml_configuration ADD COLUMN protocol varchar(6) NOT NULL DEFAULT 'saml'
          CONSTRAINT saml_configuration_protocol_check CHECK (protocol IN ('saml', 'openid')),
        ADD COLUMN client_id text,
        ADD COLUMN client_secret_sealed bytea,
        ADD COLUMN tested_at timestamptz(3);

      CREATE TABLE sso_attempt (
        id uuid NOT NULL,
        configuration_id uuid NOT NULL,
        state_hash bytea NOT NULL,
        browser bytea NOT NULL,
        secrets_sealed bytea NOT NULL,
        next text NOT NULL,
        is_fresh boolean NOT NULL,
        tester_id uuid,
        created_at timestamptz(3) NOT NULL,
        finished_at timestamptz(3),
        email varchar(254),
        problem text,
        CONSTRAINT sso_attempt_pkey PRIMARY KEY (id),
        CONSTRAINT sso_attempt_state_hash_key UNIQUE (state_hash),
        CONSTRAINT sso_attempt_configuration_fkey FOREIGN KEY (configuration_id) REFERENCES saml_configuration (id)
          ON DELETE CASCADE,
        CONSTRAINT sso_attempt_tester_fkey FOREIGN KEY (tester_id) REFERENCES dashboard_user (id) ON DELETE CASCADE
      );
      CREATE INDEX sso_attempt_finished_index ON sso_attempt (configuration_id, finished_at);
      CREATE INDEX sso_attempt_tester_index ON sso_attempt (tester_id) WHERE tester_id IS NOT NULL;
      CREATE INDEX sso_attempt_created_at_index ON sso_attempt (created_at);

      CREATE TABLE sso_identity (
        organization_id uuid NOT NULL,
        issuer text NOT NULL,
        subject varchar(255) NOT NULL,
        user_id uuid NOT NULL,
        linked_at timestamptz(3) NOT NULL,
        CONSTRAINT sso_identity_pkey PRIMARY KEY (organization_id, issuer, subject),
        CONSTRAINT sso_identity_user_issuer_key UNIQUE (user_id, issuer),
        CONSTRAINT sso_identity_organization_fkey FOREIGN KEY (organization_id) REFERENCES organization (id),
        CONSTRAINT sso_identity_user_fkey FOREIGN KEY (user_id) REFERENCES dashboard_user (id) ON DELETE CASCADE
      );
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`
      DROP TABLE sso_identity;
      DROP TABLE sso_attempt;
      DELETE FROM saml_configuration WHERE protocol <> 'saml';
      ALTER TABLE saml_configuration DROP COLUMN protocol, DROP COLUMN client_id, DROP COLUMN client_secret_sealed,
        DROP COLUMN tested_at;
      DROP INDEX allowlisted_domain_proved_key;
      ALTER TABLE allowlisted_domain DROP COLUMN proved_at, DROP COLUMN proof_checked_at,
        DROP COLUMN proof_missing_since;
    `);
  }
}
