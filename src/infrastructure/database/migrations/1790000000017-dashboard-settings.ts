import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Names of API clients, the role `viewer`, and the date from which users of an organization need a second factor. */
export class DashboardSettings1790000000017 implements MigrationInterface {
  readonly name = 'DashboardSettings1790000000017';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      ALTER TABLE api_client ADD COLUMN name varchar(100);
      ALTER TABLE organization ADD COLUMN second_factor_required_from timestamptz(3);
      ALTER TABLE dashboard_user DROP CONSTRAINT dashboard_user_role_check;
      ALTER TABLE dashboard_user ADD CONSTRAINT dashboard_user_role_check
        CHECK (role IN ('owner', 'admin', 'member', 'viewer')) NOT VALID;
      ALTER TABLE dashboard_user VALIDATE CONSTRAINT dashboard_user_role_check`);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`
      UPDATE dashboard_user SET role = 'member' WHERE role = 'viewer';
      ALTER TABLE dashboard_user DROP CONSTRAINT dashboard_user_role_check;
      ALTER TABLE dashboard_user ADD CONSTRAINT dashboard_user_role_check
        CHECK (role IN ('owner', 'admin', 'member'));
      ALTER TABLE organization DROP COLUMN second_factor_required_from;
      ALTER TABLE api_client DROP COLUMN name`);
  }
}
