import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The width of a lane adapts to its endpoint. The column `width` belongs to the previous release, which may still run.
 * Deliveries name the process that has claimed them.
 */
export class WebhookConcurrency1790000000010 implements MigrationInterface {
  readonly name = 'WebhookConcurrency1790000000010';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      ALTER TABLE webhook_lane
        ADD COLUMN adaptive_width double precision,
        ADD COLUMN width_ceiling double precision,
        ADD COLUMN baseline_ms double precision;
      ALTER TABLE webhook_delivery ADD COLUMN claimed_by integer;
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`
      ALTER TABLE webhook_delivery DROP COLUMN claimed_by;
      ALTER TABLE webhook_lane
        DROP COLUMN adaptive_width, DROP COLUMN width_ceiling, DROP COLUMN baseline_ms;
    `);
  }
}
