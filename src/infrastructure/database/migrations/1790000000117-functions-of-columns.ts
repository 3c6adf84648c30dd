import type { MigrationInterface, QueryRunner } from 'typeorm';
import { changeSchema } from './schema-change.js';

/** Drops the functions that only processes of version 0.3.0 called. A database that 0.4.0 created has none of them. */
export class FunctionsOfColumns1790000000117 implements MigrationInterface {
  readonly name = 'FunctionsOfColumns1790000000117';
  readonly transaction = false;

  async up(connection: QueryRunner): Promise<void> {
    for (const name of [
      'build_columnar_partition',
      'build_row_partition',
      'exchange_columnar_partition',
      'find_agent_tokens',
    ])
      await changeSchema(connection, `DROP FUNCTION IF EXISTS ${name}`);
  }

  down(): never {
    throw new Error('Version 0.4.0 works on this schema. To go back further, restore a backup.');
  }
}
