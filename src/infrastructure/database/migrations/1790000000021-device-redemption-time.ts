import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When a device got its access token, so that users see until when it has access. */
export class DeviceRedemptionTime1790000000021 implements MigrationInterface {
  readonly name = 'DeviceRedemptionTime1790000000021';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query('ALTER TABLE device_authorization ADD COLUMN redeemed_at timestamptz(3)');
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query('ALTER TABLE device_authorization DROP COLUMN redeemed_at');
  }
}
