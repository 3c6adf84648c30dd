import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './concurrent-index.js';

/** Finds the events of a client in a period, such as those that were published while an endpoint was disabled. */
export class WebhookEventClientIndex1790000000013 implements MigrationInterface {
  readonly name = 'WebhookEventClientIndex1790000000013';
  readonly transaction = false;

  up(connection: QueryRunner): Promise<void> {
    return createIndexConcurrently(connection, {
      name: 'webhook_event_client_index',
      table: 'webhook_event',
      definition: '(client_id, created_at, id)',
    });
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query('DROP INDEX webhook_event_client_index');
  }
}
