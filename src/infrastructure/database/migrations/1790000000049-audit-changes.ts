import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What an action changed: which fields, from which value to which. */
export class AuditChanges1790000000049 implements MigrationInterface {
  readonly name = 'AuditChanges1790000000049';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query('ALTER TABLE audit_log ADD COLUMN changes jsonb');
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query('ALTER TABLE audit_log DROP COLUMN changes');
  }
}
