import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Binds device approvals to logins, and lets a user's access end before it expires. */
export class Identity1790000000003 implements MigrationInterface {
  readonly name = 'Identity1790000000003';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      ALTER TABLE device_authorization ADD COLUMN entered_in_session uuid, ADD COLUMN access_version integer;
      ALTER TABLE dashboard_user ADD COLUMN access_version integer NOT NULL DEFAULT 0;

      CREATE TABLE known_browser (
        digest bytea NOT NULL,
        user_id uuid NOT NULL,
        logged_in_at timestamptz(3) NOT NULL,
        CONSTRAINT known_browser_pkey PRIMARY KEY (digest),
        CONSTRAINT known_browser_user_fkey FOREIGN KEY (user_id) REFERENCES dashboard_user (id)
          ON DELETE CASCADE
      );
      CREATE INDEX known_browser_user_index ON known_browser (user_id);
      CREATE INDEX known_browser_logged_in_at_index ON known_browser (logged_in_at);
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`
      DROP TABLE known_browser;
      ALTER TABLE dashboard_user DROP COLUMN access_version;
      ALTER TABLE device_authorization DROP COLUMN entered_in_session, DROP COLUMN access_version;
    `);
  }
}
