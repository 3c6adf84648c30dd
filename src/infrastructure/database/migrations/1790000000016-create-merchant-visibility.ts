import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The merchants that an organization hides in each environment. */
export class CreateMerchantVisibility1790000000016 implements MigrationInterface {
  readonly name = 'CreateMerchantVisibility1790000000016';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TABLE merchant_visibility (
        organization_id uuid NOT NULL,
        environment varchar(11) NOT NULL,
        merchant_id integer NOT NULL,
        hidden_at timestamptz(3) NOT NULL,
        CONSTRAINT merchant_visibility_pkey PRIMARY KEY (organization_id, environment, merchant_id),
        CONSTRAINT merchant_visibility_organization_fkey FOREIGN KEY (organization_id) REFERENCES organization (id),
        CONSTRAINT merchant_visibility_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchant (id),
        CONSTRAINT merchant_visibility_environment_check CHECK (environment IN ('development', 'production'))
      );
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`DROP TABLE merchant_visibility;`);
  }
}
