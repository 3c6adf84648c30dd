import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Endpoints can be paused: their deliveries wait. */
export class WebhookPause1790000000007 implements MigrationInterface {
  readonly name = 'WebhookPause1790000000007';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query('ALTER TABLE webhook_lane ADD COLUMN paused_at timestamptz(3)');
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query('ALTER TABLE webhook_lane DROP COLUMN paused_at');
  }
}
