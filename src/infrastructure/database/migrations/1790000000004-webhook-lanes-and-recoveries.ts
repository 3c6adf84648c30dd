import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Lanes know their organization and their last success, recoveries are jobs, and URLs can be longer than an entry of an
 * index, because the limit counts characters before they are percent-encoded.
 */
export class WebhookLanesAndRecoveries1790000000004 implements MigrationInterface {
  name = 'WebhookLanesAndRecoveries1790000000004';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      ALTER TABLE webhook_endpoint DROP CONSTRAINT webhook_endpoint_client_url_key;
      ALTER TABLE webhook_endpoint ALTER COLUMN url TYPE text;
      CREATE UNIQUE INDEX webhook_endpoint_client_url_key ON webhook_endpoint (client_id, md5(url));

      ALTER TABLE webhook_lane ADD COLUMN organization_id uuid, ADD COLUMN last_success_at timestamptz(3);
      UPDATE webhook_lane SET organization_id = client.organization_id
        FROM webhook_endpoint endpoint JOIN api_client client ON client.id = endpoint.client_id
       WHERE endpoint.id = webhook_lane.endpoint_id;

      -- The last recovery of each endpoint. A process that runs one renews its lease.
      CREATE TABLE webhook_recovery (
        endpoint_id uuid NOT NULL,
        since timestamptz(3) NOT NULL,
        requested_at timestamptz(3) NOT NULL,
        finished_at timestamptz(3),
        queued integer NOT NULL DEFAULT 0,
        lease_until timestamptz NOT NULL DEFAULT '-infinity',
        CONSTRAINT webhook_recovery_pkey PRIMARY KEY (endpoint_id),
        CONSTRAINT webhook_recovery_endpoint_fkey FOREIGN KEY (endpoint_id)
          REFERENCES webhook_endpoint (id) ON DELETE CASCADE
      );
      CREATE INDEX webhook_recovery_pending_index ON webhook_recovery (requested_at) WHERE finished_at IS NULL;
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`
      DROP TABLE webhook_recovery;
      ALTER TABLE webhook_lane DROP COLUMN organization_id, DROP COLUMN last_success_at;
      DROP INDEX webhook_endpoint_client_url_key;
      ALTER TABLE webhook_endpoint ALTER COLUMN url TYPE varchar(2083);
      ALTER TABLE webhook_endpoint ADD CONSTRAINT webhook_endpoint_client_url_key UNIQUE (client_id, url);
    `);
  }
}
