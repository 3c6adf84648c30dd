import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Logins of dashboard users: sessions, the second factor, password links and counts of attempts. Also access grants. */
export class CreateDashboardLogins1790000000011 implements MigrationInterface {
  readonly name = 'CreateDashboardLogins1790000000011';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      ALTER TABLE dashboard_user
        ALTER COLUMN password_hash DROP NOT NULL,
        ADD COLUMN disabled_at timestamptz(3),
        ADD COLUMN totp_secret_sealed bytea,
        ADD COLUMN totp_enabled_at timestamptz(3),
        ADD COLUMN totp_last_step integer,
        DROP CONSTRAINT dashboard_user_email_key,
        ADD CONSTRAINT dashboard_user_organization_email_key UNIQUE (organization_id, email);
      -- A user who has not accepted an invitation may also be invited by another organization.
      CREATE UNIQUE INDEX dashboard_user_email_key ON dashboard_user (email) WHERE password_hash IS NOT NULL;

      CREATE TABLE dashboard_session (
        id uuid NOT NULL,
        token_hash bytea NOT NULL,
        user_id uuid NOT NULL,
        stage varchar(13) NOT NULL,
        authenticated_at timestamptz(3) NOT NULL,
        expires_at timestamptz(3) NOT NULL,
        ip text NOT NULL,
        user_agent text NOT NULL,
        CONSTRAINT dashboard_session_pkey PRIMARY KEY (id),
        CONSTRAINT dashboard_session_token_hash_key UNIQUE (token_hash),
        CONSTRAINT dashboard_session_user_fkey FOREIGN KEY (user_id) REFERENCES dashboard_user (id)
          ON DELETE CASCADE,
        CONSTRAINT dashboard_session_stage_check CHECK (stage IN ('second_factor', 'complete'))
      );
      CREATE INDEX dashboard_session_user_index ON dashboard_session (user_id);
      CREATE INDEX dashboard_session_expires_at_index ON dashboard_session (expires_at);

      CREATE TABLE recovery_code (
        digest bytea NOT NULL,
        user_id uuid NOT NULL,
        CONSTRAINT recovery_code_pkey PRIMARY KEY (user_id, digest),
        CONSTRAINT recovery_code_user_fkey FOREIGN KEY (user_id) REFERENCES dashboard_user (id) ON DELETE CASCADE
      );

      CREATE TABLE password_link (
        token_hash bytea NOT NULL,
        user_id uuid NOT NULL,
        expires_at timestamptz(3) NOT NULL,
        CONSTRAINT password_link_pkey PRIMARY KEY (token_hash),
        CONSTRAINT password_link_user_key UNIQUE (user_id),
        CONSTRAINT password_link_user_fkey FOREIGN KEY (user_id) REFERENCES dashboard_user (id) ON DELETE CASCADE
      );
      CREATE INDEX password_link_expires_at_index ON password_link (expires_at);

      CREATE TABLE access_grant (
        id uuid NOT NULL,
        user_id uuid NOT NULL,
        role varchar(6) NOT NULL,
        reason varchar(256) NOT NULL,
        created_at timestamptz(3) NOT NULL,
        created_by varchar(254) NOT NULL,
        expires_at timestamptz(3) NOT NULL,
        revoked_at timestamptz(3),
        CONSTRAINT access_grant_pkey PRIMARY KEY (id),
        CONSTRAINT access_grant_user_fkey FOREIGN KEY (user_id) REFERENCES dashboard_user (id) ON DELETE CASCADE,
        CONSTRAINT access_grant_role_check CHECK (role IN ('owner', 'admin'))
      );
      CREATE INDEX access_grant_user_index ON access_grant (user_id);

      CREATE TABLE attempt_count (
        key varchar(255) NOT NULL,
        points integer NOT NULL,
        expire bigint,
        CONSTRAINT attempt_count_pkey PRIMARY KEY (key)
      );
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`
      DROP TABLE attempt_count;
      DROP TABLE access_grant;
      DROP TABLE password_link;
      DROP TABLE recovery_code;
      DROP TABLE dashboard_session;
      DROP INDEX dashboard_user_email_key;
      DELETE FROM dashboard_user WHERE password_hash IS NULL;
      ALTER TABLE dashboard_user
        DROP CONSTRAINT dashboard_user_organization_email_key,
        ADD CONSTRAINT dashboard_user_email_key UNIQUE (email),
        DROP COLUMN totp_last_step,
        DROP COLUMN totp_enabled_at,
        DROP COLUMN totp_secret_sealed,
        DROP COLUMN disabled_at,
        ALTER COLUMN password_hash SET NOT NULL;
    `);
  }
}
