import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from './concurrent-index.js';
import { changeSchema } from './schema-change.js';

/**
 * The events of a client in the order of their positions, in both environments. Version 0.3.0 uses the index of the stream, which has
 * only those of one: a migration of the next release can drop it. Requests to the feed that wait do not count as streams.
 */
export class EventFeed1790000000123 implements MigrationInterface {
  readonly name = 'EventFeed1790000000123';
  readonly transaction = false;

  async up(connection: QueryRunner): Promise<void> {
    await createIndexConcurrently(connection, {
      name: 'webhook_event_feed_index',
      table: 'webhook_event',
      definition: '(client_id, position) WHERE NOT is_test',
    });
    await changeSchema(
      connection,
      'ALTER TABLE webhook_listener ADD COLUMN IF NOT EXISTS reads_feed boolean NOT NULL DEFAULT false',
    );
  }

  down(): never {
    throw new Error('Version 0.3.0 works on this schema. To go back further, restore a backup.');
  }
}
