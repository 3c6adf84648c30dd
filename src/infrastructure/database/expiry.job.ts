import { Injectable, Logger } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { DataSource } from 'typeorm';
import { LoadedConfiguration } from '../config/index.js';
import { Clock, hourlyAt } from '../time/index.js';
import { JobLock } from './advisory-lock.js';
import { Transaction, type TimedRows } from './transaction.js';

const EXPIRY = Symbol('expiry');

type KeepFor = (configuration: LoadedConfiguration) => number | undefined;

/** How many milliseconds rows of a table are kept after the time in a column. */
interface ExpiryRule extends TimedRows {
  readonly entity: string;
  readonly property: string;
  readonly isInMilliseconds: boolean;
  readonly keepFor: number;
}

/**
 * Deletes a row of the entity once this many milliseconds have passed since the time in the column. The column is a
 * `timestamptz`, or a `bigint` that holds milliseconds since the epoch.
 *
 * @param keepFor if the function returns undefined, rows are never deleted
 */
export function DeleteAfter(keepFor: number | KeepFor): PropertyDecorator {
  return (prototype, property) =>
    Reflect.defineMetadata(
      EXPIRY,
      { property: String(property), keepFor: typeof keepFor === 'number' ? () => keepFor : keepFor },
      prototype.constructor,
    );
}

/** Deletes the expired rows of every table whose entity has a `@DeleteAfter` column. */
@Injectable()
export class ExpiryJob {
  private readonly logger = new Logger('Expiry');

  constructor(
    private readonly dataSource: DataSource,
    private readonly transaction: Transaction,
    private readonly lock: JobLock,
    private readonly configuration: LoadedConfiguration,
    private readonly clock: Clock,
  ) {}

  @Cron(hourlyAt(35))
  async run(): Promise<void> {
    await this.lock.runExclusively('expiry', async () => {
      for (const rule of this.rules()) {
        // A failure for one table must not prevent the cleanup of the others.
        await this.deleteExpired(rule).catch((error: unknown) =>
          this.logger.error(`Expired rows of ${rule.entity} were not deleted`, error),
        );
      }
    });
  }

  rules(): ExpiryRule[] {
    return this.dataSource.entityMetadatas.flatMap((metadata) => {
      const rule = Reflect.getMetadata(EXPIRY, metadata.target as object) as
        { readonly property: string; readonly keepFor: KeepFor } | undefined;
      const column = rule && metadata.findColumnWithPropertyName(rule.property);
      const keepFor = rule?.keepFor(this.configuration);
      if (!column || keepFor === undefined) return [];
      return {
        entity: metadata.name,
        property: rule.property,
        table: metadata.tableName,
        key: metadata.primaryColumns.map(({ databaseName }) => databaseName).join(', '),
        column: column.databaseName,
        isInMilliseconds: column.type === 'bigint',
        keepFor,
      };
    });
  }

  private async deleteExpired({ isInMilliseconds, keepFor, ...rows }: ExpiryRule): Promise<void> {
    const before = this.clock.milliseconds() - keepFor;
    await this.transaction.deleteBefore(isInMilliseconds ? before : new Date(before), rows);
  }
}
