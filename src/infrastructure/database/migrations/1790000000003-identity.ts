import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Binds device approvals to logins, and lets a user's access end before it expires. */
export class Identity1790000000003 implements MigrationInterface {
  readonly name = 'Identity1790000000003';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      ALTER TABLE device_authorization ADD COLUMN entered_in_session uuid, ADD COLUMN access_version integer;
      ALTER TABLE dashboard_user ADD COLUMN access_version integer NOT NULL DEFAULT 0;
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`
      ALTER TABLE dashboard_user DROP COLUMN access_version;
      ALTER TABLE device_authorization DROP COLUMN entered_in_session, DROP COLUMN access_version;
    `);
  }
}
