import { Injectable } from '@nestjs/common';
import { Transaction } from '../transaction.js';
import type { ExpiryRule } from './delete-after.js';

/** Small enough that no other statement waits long for a lock. */
const ROWS_PER_STATEMENT = 1_000;

@Injectable()
export class ExpiredRowsRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Returns whether the module of the entity is loaded in this process. */
  has({ entity }: ExpiryRule): boolean {
    return this.transaction.manager.dataSource.hasMetadata(entity);
  }

  /** Deletes all rows whose time is before the given one, a batch at a time. */
  async deleteBefore({ entity, property }: ExpiryRule, time: Date): Promise<void> {
    const { manager } = this.transaction;
    const metadata = manager.dataSource.getMetadata(entity);
    const table = metadata.tableName;
    const key = metadata.primaryColumns[0]?.databaseName;
    const column = metadata.findColumnWithPropertyName(property);
    const before = column?.type === 'bigint' ? time.getTime() : time;
    let deleted: number;
    do {
      [, deleted] = await manager.query<[unknown, number]>(
        `DELETE FROM ${table} WHERE ${key} IN (
           SELECT ${key} FROM ${table} WHERE ${column?.databaseName} < $1
            ORDER BY ${column?.databaseName} LIMIT $2 FOR UPDATE SKIP LOCKED)`,
        [before, ROWS_PER_STATEMENT],
      );
    } while (deleted === ROWS_PER_STATEMENT);
  }
}
