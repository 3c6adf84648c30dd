import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Emails are stored before they are sent, and so are requests for a new password. */
export class OutgoingEmails1790000000066 implements MigrationInterface {
  readonly name = 'OutgoingEmails1790000000066';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TABLE outgoing_email (
        id uuid NOT NULL,
        user_id uuid NOT NULL,
        kind varchar(10) NOT NULL,
        about varchar(128),
        content_sealed bytea,
        created_at timestamptz(3) NOT NULL,
        due_at timestamptz(3) NOT NULL,
        expires_at timestamptz(3) NOT NULL,
        attempts integer NOT NULL DEFAULT 0,
        outcome varchar(9),
        reply varchar(16),
        CONSTRAINT outgoing_email_pkey PRIMARY KEY (id),
        CONSTRAINT outgoing_email_user_fkey FOREIGN KEY (user_id) REFERENCES dashboard_user (id) ON DELETE CASCADE
      );
      CREATE INDEX outgoing_email_due_at_index ON outgoing_email (due_at) WHERE outcome IS NULL;
      CREATE INDEX outgoing_email_user_index ON outgoing_email (user_id, kind);
      CREATE INDEX outgoing_email_about_index ON outgoing_email (about) WHERE about IS NOT NULL;
      CREATE INDEX outgoing_email_expires_at_index ON outgoing_email (expires_at);
      CREATE TABLE password_reset_request (
        id uuid NOT NULL,
        email_sealed bytea NOT NULL,
        created_at timestamptz(3) NOT NULL,
        CONSTRAINT password_reset_request_pkey PRIMARY KEY (id)
      );
      CREATE INDEX password_reset_request_created_at_index ON password_reset_request (created_at);
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query('DROP TABLE outgoing_email, password_reset_request');
  }
}
