import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lanes start narrow and widen while attempts succeed. A lane without a width, from before, is as wide as allowed. */
export class LaneWidth1790000000010 implements MigrationInterface {
  readonly name = 'LaneWidth1790000000010';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query('ALTER TABLE webhook_lane ALTER COLUMN width SET DEFAULT 4');
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query('ALTER TABLE webhook_lane ALTER COLUMN width DROP DEFAULT');
  }
}
