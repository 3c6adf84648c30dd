import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The last accepted poll of each device authorization, in a table of its own because it changes with every poll. It has
 * no value after a crash, so the table is unlogged, and polls do not wait for the disk.
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
