import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The platform has an audit chain of its own, although it is no organization. */
export class PlatformAuditChain1790000000032 implements MigrationInterface {
  readonly name = 'PlatformAuditChain1790000000032';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query('ALTER TABLE audit_chain DROP CONSTRAINT audit_chain_organization_fkey');
  }

  /** Fails if the platform has entries, which cannot be removed. */
  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`
      ALTER TABLE audit_chain ADD CONSTRAINT audit_chain_organization_fkey
        FOREIGN KEY (organization_id) REFERENCES organization (id)
    `);
  }
}
