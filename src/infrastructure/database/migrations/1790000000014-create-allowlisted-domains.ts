import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The email domains that users of an organization may be invited from. */
export class CreateAllowlistedDomains1790000000014 implements MigrationInterface {
  readonly name = 'CreateAllowlistedDomains1790000000014';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TABLE allowlisted_domain (
        id uuid NOT NULL,
        organization_id uuid NOT NULL,
        domain varchar(253) NOT NULL,
        created_at timestamptz(3) NOT NULL,
        CONSTRAINT allowlisted_domain_pkey PRIMARY KEY (id),
        CONSTRAINT allowlisted_domain_organization_fkey FOREIGN KEY (organization_id) REFERENCES organization (id),
        CONSTRAINT allowlisted_domain_organization_domain_key UNIQUE (organization_id, domain)
      );
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`DROP TABLE allowlisted_domain;`);
  }
}
