import type { MigrationInterface, QueryRunner } from 'typeorm';
import { changeSchema } from './schema-change.js';

/**
 * A function that statements of the queue call while PostgreSQL plans them, so that their plans use indexes: `INDEXES_ONLY` in the module
 * `webhooks`. It is declared immutable, although it changes a setting, because PostgreSQL calls only such functions at that time.
 */
export class IndexesOnly1790000000140 implements MigrationInterface {
  readonly name = 'IndexesOnly1790000000140';
  readonly transaction = false;

  async up(connection: QueryRunner): Promise<void> {
    await changeSchema(
      connection,
      `CREATE OR REPLACE FUNCTION indexes_only() RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
        BEGIN
          RETURN set_config('enable_seqscan', 'off', true) = 'off';
        END
      $$`,
    );
  }

  down(): never {
    throw new Error('Version 0.3.0 works on this schema. To go back further, restore a backup.');
  }
}
