import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The users of the dashboard. */
export class CreateDashboardUsers1790000000004 implements MigrationInterface {
  readonly name = 'CreateDashboardUsers1790000000004';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TABLE dashboard_user (
        id uuid NOT NULL,
        organization_id uuid NOT NULL,
        email varchar(254) NOT NULL,
        name varchar(256) NOT NULL,
        role varchar(6) NOT NULL,
        password_hash text NOT NULL,
        created_at timestamptz(3) NOT NULL,
        CONSTRAINT dashboard_user_pkey PRIMARY KEY (id),
        CONSTRAINT dashboard_user_email_key UNIQUE (email),
        CONSTRAINT dashboard_user_organization_fkey FOREIGN KEY (organization_id) REFERENCES organization (id),
        CONSTRAINT dashboard_user_role_check CHECK (role IN ('owner', 'admin', 'member'))
      );
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`DROP TABLE dashboard_user;`);
  }
}
