import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Details of delivery attempts: endpoint, event, number of the attempt, failure reason, duration of each phase. */
export class AddAttemptsToRequestLogs1790000000021 implements MigrationInterface {
  readonly name = 'AddAttemptsToRequestLogs1790000000021';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      ALTER TABLE request_log
        ADD COLUMN webhook_endpoint_id uuid,
        ADD COLUMN webhook_event_id uuid,
        ADD COLUMN attempt smallint,
        ADD COLUMN reason text,
        ADD COLUMN dns_ms integer,
        ADD COLUMN connect_ms integer,
        ADD COLUMN tls_ms integer,
        ADD COLUMN first_byte_ms integer;
      CREATE INDEX request_log_endpoint_index ON request_log (webhook_endpoint_id, created_at)
        WHERE webhook_endpoint_id IS NOT NULL;
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`
      DROP INDEX request_log_endpoint_index;
      ALTER TABLE request_log
        DROP COLUMN webhook_endpoint_id,
        DROP COLUMN webhook_event_id,
        DROP COLUMN attempt,
        DROP COLUMN reason,
        DROP COLUMN dns_ms,
        DROP COLUMN connect_ms,
        DROP COLUMN tls_ms,
        DROP COLUMN first_byte_ms;
    `);
  }
}
