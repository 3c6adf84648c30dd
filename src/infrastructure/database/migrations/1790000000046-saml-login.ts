import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Key pairs of the service for SAML, responses that arrive with a form, and metadata that is fetched again. */
export class SamlLogin1790000000046 implements MigrationInterface {
  readonly name = 'SamlLogin1790000000046';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TABLE saml_key (
        id uuid NOT NULL,
        configuration_id uuid NOT NULL,
        certificate text NOT NULL,
        private_key_sealed bytea NOT NULL,
        created_at timestamptz(3) NOT NULL,
        CONSTRAINT saml_key_pkey PRIMARY KEY (id),
        CONSTRAINT saml_key_configuration_fkey FOREIGN KEY (configuration_id) REFERENCES saml_configuration (id)
          ON DELETE CASCADE
      );
      CREATE INDEX saml_key_configuration_index ON saml_key (configuration_id);

      ALTER TABLE sso_attempt ADD COLUMN received_at timestamptz(3);

      ALTER TABLE saml_configuration ADD COLUMN metadata_url text,
        ADD COLUMN metadata_checked_at timestamptz(3),
        ADD COLUMN expiry_notified_at timestamptz(3),
        ADD COLUMN is_owner_approved boolean NOT NULL DEFAULT false;
      CREATE INDEX saml_configuration_metadata_index ON saml_configuration (metadata_checked_at)
        WHERE metadata_url IS NOT NULL;
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`
      DROP INDEX saml_configuration_metadata_index;
      ALTER TABLE saml_configuration DROP COLUMN metadata_url, DROP COLUMN metadata_checked_at,
        DROP COLUMN expiry_notified_at, DROP COLUMN is_owner_approved;
      ALTER TABLE sso_attempt DROP COLUMN received_at;
      DROP TABLE saml_key;
    `);
  }
}
