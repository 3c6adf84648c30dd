import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './concurrent-index.js';

/** The events of a client in the order of the stream, which only the development environment has. */
export class WebhookStreamIndex1790000000015 implements MigrationInterface {
  readonly name = 'WebhookStreamIndex1790000000015';
  readonly transaction = false;

  up(connection: QueryRunner): Promise<void> {
    return createIndexConcurrently(connection, {
      name: 'webhook_event_stream_index',
      table: 'webhook_event',
      definition: `(client_id, position) WHERE environment = 'development' AND NOT is_test`,
    });
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query('DROP INDEX webhook_event_stream_index');
  }
}
