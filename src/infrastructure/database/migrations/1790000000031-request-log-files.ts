import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Files of request log entries that a process saved before it ended, and that are written to the log. */
export class RequestLogFiles1790000000031 implements MigrationInterface {
  readonly name = 'RequestLogFiles1790000000031';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TABLE request_log_file (
        id uuid NOT NULL,
        written_at timestamptz(3) NOT NULL,
        CONSTRAINT request_log_file_pkey PRIMARY KEY (id)
      );
      CREATE INDEX request_log_file_written_at_index ON request_log_file (written_at);
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query('DROP TABLE request_log_file');
  }
}
