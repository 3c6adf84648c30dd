import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * When devices were last let ask, apart from what they ask for: it changes with every poll and is worth nothing
 * after a crash, so it is not logged, and a poll waits for no disk.
 */
export class CreateDevicePolls1790000000024 implements MigrationInterface {
  readonly name = 'CreateDevicePolls1790000000024';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE UNLOGGED TABLE device_poll (
        authorization_id uuid NOT NULL,
        accepted_at timestamptz(3) NOT NULL,
        interval_seconds integer NOT NULL,
        early boolean NOT NULL,
        CONSTRAINT device_poll_pkey PRIMARY KEY (authorization_id)
      );
      ALTER TABLE device_authorization DROP COLUMN last_polled_at;
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`
      ALTER TABLE device_authorization ADD COLUMN last_polled_at timestamptz(3);
      DROP TABLE device_poll;
    `);
  }
}
