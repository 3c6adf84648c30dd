import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Endpoints choose their events and are disabled if they fail for days, and the request log keeps the bodies of failed
 * responses. While the previous release still runs, it may add deliveries that an endpoint does not want; a job removes
 * those of disabled endpoints.
 */
export class WebhookSubscriptions1790000000011 implements MigrationInterface {
  readonly name = 'WebhookSubscriptions1790000000011';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      ALTER TABLE webhook_endpoint
        ADD COLUMN events text[],
        ADD COLUMN disabled_at timestamptz(3),
        ADD COLUMN missed_periods tstzmultirange NOT NULL DEFAULT '{}';
      ALTER TABLE webhook_lane
        ADD COLUMN failing_since timestamptz(3),
        ADD COLUMN last_failure_at timestamptz(3),
        ADD COLUMN notified_at timestamptz(3);
      ALTER TABLE request_log ADD COLUMN response_body text;
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`
      ALTER TABLE request_log DROP COLUMN response_body;
      ALTER TABLE webhook_lane
        DROP COLUMN failing_since, DROP COLUMN last_failure_at, DROP COLUMN notified_at;
      ALTER TABLE webhook_endpoint
        DROP COLUMN events, DROP COLUMN disabled_at, DROP COLUMN missed_periods;
    `);
  }
}
