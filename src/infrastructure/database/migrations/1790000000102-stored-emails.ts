import type { MigrationInterface, QueryRunner } from 'typeorm';
import { changeSchema } from './schema-change.js';

/** Emails, and requests for a new password, are stored before they are sent. Passwords that the service generates expire. */
export class StoredEmails1790000000102 implements MigrationInterface {
  readonly name = 'StoredEmails1790000000102';
  readonly transaction = false;

  async up(connection: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await changeSchema(connection, statement);
  }

  down(): never {
    throw new Error('Version 0.3.0 works on this schema. To go back further, restore a backup.');
  }
}

const STATEMENTS = [
  `CREATE TABLE IF NOT EXISTS outgoing_email (
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
  )`,
  'CREATE INDEX IF NOT EXISTS outgoing_email_due_at_index ON outgoing_email (due_at) WHERE outcome IS NULL',
  'CREATE INDEX IF NOT EXISTS outgoing_email_user_index ON outgoing_email (user_id, kind)',
  'CREATE INDEX IF NOT EXISTS outgoing_email_about_index ON outgoing_email (about) WHERE about IS NOT NULL',
  'CREATE INDEX IF NOT EXISTS outgoing_email_expires_at_index ON outgoing_email (expires_at)',

  `CREATE TABLE IF NOT EXISTS password_reset_request (
    id uuid NOT NULL,
    email_sealed bytea NOT NULL,
    created_at timestamptz(3) NOT NULL,
    CONSTRAINT password_reset_request_pkey PRIMARY KEY (id)
  )`,
  'CREATE INDEX IF NOT EXISTS password_reset_request_created_at_index ON password_reset_request (created_at)',

  `ALTER TABLE dashboard_user ADD COLUMN IF NOT EXISTS password_expires_at timestamptz(3),
    ADD COLUMN IF NOT EXISTS expiring_password bytea`,
];
