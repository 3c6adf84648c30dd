import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './concurrent-index.js';

/** An index for `type=webhook`, because a client may have few webhooks among many requests, or none. */
export class WebhookLogIndex1790000000006 implements MigrationInterface {
  readonly name = 'WebhookLogIndex1790000000006';
  readonly transaction = false;

  up(connection: QueryRunner): Promise<void> {
    return createIndexConcurrently(connection, {
      name: 'request_log_webhook_index',
      table: 'request_log',
      definition: `(client_id, environment, created_at, id) WHERE type = 'webhook'`,
    });
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query('DROP INDEX request_log_webhook_index');
  }
}
