import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whether the account of an organization is active, and the logo of its app. */
export class AddAccountToOrganizations1790000000017 implements MigrationInterface {
  readonly name = 'AddAccountToOrganizations1790000000017';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      ALTER TABLE organization
        ADD COLUMN activated_at timestamptz(3),
        ADD COLUMN logo bytea,
        ADD COLUMN logo_media_type text;
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`
      ALTER TABLE organization
        DROP COLUMN logo_media_type,
        DROP COLUMN logo,
        DROP COLUMN activated_at;
    `);
  }
}
