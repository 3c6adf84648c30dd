import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './concurrent-index.js';

/**
 * Indexes for the filters `event_id` and `outcome=failure`, the latter also together with `endpoint_id`. By itself, the filter
 * `endpoint_id` uses the index of recoveries.
 */
export class RequestLogFilterIndexes1790000000012 implements MigrationInterface {
  readonly name = 'RequestLogFilterIndexes1790000000012';
  readonly transaction = false;

  async up(connection: QueryRunner): Promise<void> {
    await createIndexConcurrently(connection, {
      name: 'request_log_webhook_event_index',
      table: 'request_log',
      definition:
        '(client_id, environment, webhook_event_id, created_at, id) WHERE webhook_event_id IS NOT NULL',
    });
    await createIndexConcurrently(connection, {
      name: 'request_log_failure_index',
      table: 'request_log',
      definition: `(client_id, environment, created_at, id)
                   WHERE status_code >= 400 OR (type = 'webhook' AND status_code <> 200)`,
    });
    await createIndexConcurrently(connection, {
      name: 'request_log_endpoint_failure_index',
      table: 'request_log',
      definition:
        '(webhook_endpoint_id, created_at) WHERE webhook_endpoint_id IS NOT NULL AND status_code <> 200',
    });
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query('DROP INDEX request_log_webhook_event_index');
    await connection.query('DROP INDEX request_log_failure_index');
    await connection.query('DROP INDEX request_log_endpoint_failure_index');
  }
}
