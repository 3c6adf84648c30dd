import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Forms of pages that browsers can send again, and the browser that used the link to set a password. */
export class SubmittedForms1790000000079 implements MigrationInterface {
  readonly name = 'SubmittedForms1790000000079';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TABLE submitted_form (
        form_hash bytea NOT NULL,
        outcome_sealed bytea,
        created_at timestamptz(3) NOT NULL,
        CONSTRAINT submitted_form_pkey PRIMARY KEY (form_hash)
      );
      CREATE INDEX submitted_form_created_at_index ON submitted_form (created_at);
      ALTER TABLE password_link ADD COLUMN used_by bytea;
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`
      DROP TABLE submitted_form;
      ALTER TABLE password_link DROP COLUMN used_by;
    `);
  }
}
