import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A recovery can resend selected events to an endpoint, as a part of a resend to several endpoints, and counts what it has done
 * with them. Earlier recoveries of an endpoint are kept for a while.
 */
export class WebhookResends1790000000051 implements MigrationInterface {
  readonly name = 'WebhookResends1790000000051';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      ALTER TABLE webhook_recovery
        ADD COLUMN id uuid NOT NULL DEFAULT gen_random_uuid(),
        ADD COLUMN resend_id uuid,
        ADD COLUMN event_ids uuid[],
        ADD COLUMN selected integer NOT NULL DEFAULT 0,
        ADD COLUMN handled integer NOT NULL DEFAULT 0,
        ADD COLUMN received integer NOT NULL DEFAULT 0,
        ADD COLUMN sending integer NOT NULL DEFAULT 0,
        DROP CONSTRAINT webhook_recovery_pkey,
        ADD CONSTRAINT webhook_recovery_pkey PRIMARY KEY (id);
      -- An endpoint has one recovery at a time.
      CREATE UNIQUE INDEX webhook_recovery_running_key ON webhook_recovery (endpoint_id) WHERE finished_at IS NULL;
      CREATE INDEX webhook_recovery_endpoint_index ON webhook_recovery (endpoint_id, requested_at);
      -- A form that is sent twice starts one resend.
      CREATE UNIQUE INDEX webhook_recovery_resend_key ON webhook_recovery (resend_id, endpoint_id)
        WHERE resend_id IS NOT NULL;
      CREATE INDEX webhook_recovery_finished_at_index ON webhook_recovery (finished_at);
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`
      DELETE FROM webhook_recovery earlier USING webhook_recovery later
       WHERE later.endpoint_id = earlier.endpoint_id
         AND (later.requested_at, later.id) > (earlier.requested_at, earlier.id);
      DROP INDEX webhook_recovery_running_key, webhook_recovery_endpoint_index, webhook_recovery_resend_key,
        webhook_recovery_finished_at_index;
      ALTER TABLE webhook_recovery
        DROP CONSTRAINT webhook_recovery_pkey,
        ADD CONSTRAINT webhook_recovery_pkey PRIMARY KEY (endpoint_id),
        DROP COLUMN id, DROP COLUMN resend_id, DROP COLUMN event_ids, DROP COLUMN selected, DROP COLUMN handled,
        DROP COLUMN received, DROP COLUMN sending;
    `);
  }
}
