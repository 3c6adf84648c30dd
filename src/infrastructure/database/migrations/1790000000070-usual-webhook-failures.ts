import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A lane remembers which share of its attempts fails for reasons that have nothing to do with its width. */
export class UsualWebhookFailures1790000000070 implements MigrationInterface {
  readonly name = 'UsualWebhookFailures1790000000070';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      ALTER TABLE webhook_lane
        ADD COLUMN usual_failures double precision NOT NULL DEFAULT 0,
        ADD COLUMN allowed_failures double precision NOT NULL DEFAULT 0;
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(
      'ALTER TABLE webhook_lane DROP COLUMN usual_failures, DROP COLUMN allowed_failures',
    );
  }
}
