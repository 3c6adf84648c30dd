import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The customers of the platform. */
export class CreateOrganizations1790000000002 implements MigrationInterface {
  readonly name = 'CreateOrganizations1790000000002';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TABLE organization (
        id uuid NOT NULL,
        name varchar(256) NOT NULL,
        created_at timestamptz(3) NOT NULL,
        CONSTRAINT organization_pkey PRIMARY KEY (id)
      );
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`DROP TABLE organization;`);
  }
}
