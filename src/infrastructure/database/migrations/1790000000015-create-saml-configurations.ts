import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The identity providers of organizations. One per organization may be enabled. */
export class CreateSamlConfigurations1790000000015 implements MigrationInterface {
  readonly name = 'CreateSamlConfigurations1790000000015';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TABLE saml_configuration (
        id uuid NOT NULL,
        organization_id uuid NOT NULL,
        name varchar(256) NOT NULL,
        metadata_xml text NOT NULL,
        entity_id text NOT NULL,
        sso_url text NOT NULL,
        sso_binding text NOT NULL,
        certificates text[] NOT NULL,
        created_at timestamptz(3) NOT NULL,
        enabled_at timestamptz(3),
        CONSTRAINT saml_configuration_pkey PRIMARY KEY (id),
        CONSTRAINT saml_configuration_organization_fkey FOREIGN KEY (organization_id) REFERENCES organization (id)
      );
      CREATE INDEX saml_configuration_organization_index ON saml_configuration (organization_id);
      CREATE UNIQUE INDEX saml_configuration_enabled_key ON saml_configuration (organization_id)
        WHERE enabled_at IS NOT NULL;
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`DROP TABLE saml_configuration;`);
  }
}
