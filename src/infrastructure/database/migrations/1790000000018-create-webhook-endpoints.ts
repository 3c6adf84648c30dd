import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The webhook endpoints of clients. */
export class CreateWebhookEndpoints1790000000018 implements MigrationInterface {
  readonly name = 'CreateWebhookEndpoints1790000000018';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TABLE webhook_endpoint (
        id uuid NOT NULL,
        client_id uuid NOT NULL,
        url varchar(2083) NOT NULL,
        description varchar(255),
        created_at timestamptz(3) NOT NULL,
        CONSTRAINT webhook_endpoint_pkey PRIMARY KEY (id),
        CONSTRAINT webhook_endpoint_client_fkey FOREIGN KEY (client_id) REFERENCES api_client (id)
          ON DELETE CASCADE,
        CONSTRAINT webhook_endpoint_client_url_key UNIQUE (client_id, url)
      );
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`DROP TABLE webhook_endpoint;`);
  }
}
