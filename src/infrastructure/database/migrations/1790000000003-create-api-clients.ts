import type { MigrationInterface, QueryRunner } from 'typeorm';

/** One client per environment of an organization, and its secrets: two during a rotation. */
export class CreateApiClients1790000000003 implements MigrationInterface {
  readonly name = 'CreateApiClients1790000000003';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TABLE api_client (
        id uuid NOT NULL,
        organization_id uuid NOT NULL,
        environment varchar(11) NOT NULL,
        enabled_operations text[] NOT NULL DEFAULT '{}',
        created_at timestamptz(3) NOT NULL,
        CONSTRAINT api_client_pkey PRIMARY KEY (id),
        CONSTRAINT api_client_organization_environment_key UNIQUE (organization_id, environment),
        CONSTRAINT api_client_organization_fkey FOREIGN KEY (organization_id) REFERENCES organization (id),
        CONSTRAINT api_client_environment_check CHECK (environment IN ('development', 'production'))
      );
      CREATE TABLE api_secret (
        id uuid NOT NULL,
        client_id uuid NOT NULL,
        version integer NOT NULL,
        digest bytea NOT NULL,
        sealed bytea NOT NULL,
        created_at timestamptz(3) NOT NULL,
        signs_from timestamptz(3) NOT NULL,
        accepted_until timestamptz(3),
        CONSTRAINT api_secret_pkey PRIMARY KEY (id),
        CONSTRAINT api_secret_client_version_key UNIQUE (client_id, version),
        CONSTRAINT api_secret_client_fkey FOREIGN KEY (client_id) REFERENCES api_client (id)
      );
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`DROP TABLE api_secret; DROP TABLE api_client;`);
  }
}
