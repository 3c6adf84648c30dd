import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What an organization decides about single sign-on, and the owners who can still log in with a password. */
export class SingleSignOnSettings1790000000047 implements MigrationInterface {
  readonly name = 'SingleSignOnSettings1790000000047';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TABLE sso_setting (
        organization_id uuid NOT NULL,
        creates_users boolean NOT NULL,
        role_attribute text,
        owner_values text[] NOT NULL,
        admin_values text[] NOT NULL,
        member_values text[] NOT NULL,
        is_two_factor boolean NOT NULL,
        required_at timestamptz(3),
        CONSTRAINT sso_setting_pkey PRIMARY KEY (organization_id),
        CONSTRAINT sso_setting_organization_fkey FOREIGN KEY (organization_id) REFERENCES organization (id)
      );
      ALTER TABLE dashboard_user ADD COLUMN is_break_glass boolean NOT NULL DEFAULT false;
      ALTER TABLE dashboard_session ADD COLUMN is_two_factor boolean NOT NULL DEFAULT false;
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`
      ALTER TABLE dashboard_session DROP COLUMN is_two_factor;
      ALTER TABLE dashboard_user DROP COLUMN is_break_glass;
      DROP TABLE sso_setting;
    `);
  }
}
