import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The tool that an agent called through the agent connector. */
export class RequestLogTool1790000000024 implements MigrationInterface {
  readonly name = 'RequestLogTool1790000000024';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query('ALTER TABLE request_log ADD COLUMN tool varchar(64)');
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query('ALTER TABLE request_log DROP COLUMN tool');
  }
}
