import { Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { DataSource } from 'typeorm';
import { LoadedConfiguration } from '../config/index.js';
import { hourlyAt } from '../time/index.js';
import { DatabaseClock } from './database-clock.js';
import { expiryOf } from './delete-after.js';
import { RecurringJob } from './recurring-job.js';
import { Transaction, type TimedRows } from './transaction.js';

/** How many milliseconds rows of a table are kept after the time in a column. */
interface ExpiryRule extends TimedRows {
  readonly entity: string;
  readonly property: string;
  readonly isInMilliseconds: boolean;
  readonly keepFor: number;
}

/** Deletes the expired rows of every table whose entity has a `@DeleteAfter` column. */
@Injectable()
export class ExpiryJob extends RecurringJob {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transaction: Transaction,
    private readonly configuration: LoadedConfiguration,
    private readonly clock: DatabaseClock,
  ) {
    super('Expiry', 'Expired rows were not deleted');
  }

  @Cron(hourlyAt(35))
  run(): Promise<void> {
    return this.startExclusively('expiry', async () => {
      const now = await this.clock.timeForDeletion();
      await this.forEach(this.rules(), (rule) => this.deleteExpired(rule, now));
    });
  }

  rules(): ExpiryRule[] {
    return this.dataSource.entityMetadatas.flatMap((metadata) => {
      const rule = expiryOf(metadata.target as object);
      const column = rule && metadata.findColumnWithPropertyName(rule.property);
      const keepFor = rule?.keepFor(this.configuration);
      if (!column || keepFor === undefined) return [];
      return {
        entity: metadata.name,
        property: rule.property,
        table: metadata.tableName,
        key: metadata.primaryColumns.map(({ databaseName }) => databaseName).join(', '),
        column: column.databaseName,
        condition: rule.condition,
        isInMilliseconds: column.type === 'bigint',
        keepFor,
      };
    });
  }

  private async deleteExpired(
    { isInMilliseconds, keepFor, ...rows }: ExpiryRule,
    now: number,
  ): Promise<void> {
    const before = now - keepFor;
    await this.transaction.deleteBefore(isInMilliseconds ? before : new Date(before), {
      ...rows,
      stopped: this.stopped,
    });
  }
}
