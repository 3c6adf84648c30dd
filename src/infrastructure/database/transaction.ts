import { AsyncLocalStorage } from 'node:async_hooks';
import { Propagation, Transactional as InTransaction, TransactionHost } from '@nestjs-cls/transactional';
import type { TransactionalAdapterTypeOrm } from '@nestjs-cls/transactional-adapter-typeorm';
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import {
  QueryFailedError,
  type EntityManager,
  type EntityTarget,
  type FindOptionsWhere,
  type ObjectLiteral,
  type QueryDeepPartialEntity,
} from 'typeorm';
import { advisoryLockKey } from './advisory-lock.js';
import { isRepeatedAfter, isTransient, unlessDuplicate } from './sql-state.js';

const MAX_ATTEMPTS = 3;
/** Small enough that no other statement waits long for a lock. */
const ROWS_PER_DELETION = 1_000;

/** A row to insert. Columns that can be null, and are, may be left out. */
export type NewRow<Row> = {
  [Column in keyof Row as null extends Row[Column] ? never : Column]: Row[Column];
} & { [Column in keyof Row as null extends Row[Column] ? Column : never]?: Row[Column] };

/** Throws if a row, which is locked, is not as the caller expects. */
export type Check<Row> = (current: Row) => void;

export interface TimedRows {
  readonly table: string;
  readonly key: string;
  readonly column: string;
  /** SQL for the rows that may be deleted. */
  readonly condition?: string | undefined;
  /** Empty for a table that can be distributed, whose rows a subquery cannot lock. */
  readonly lock?: '' | 'FOR UPDATE SKIP LOCKED';
  /** Aborted when the process shuts down. */
  readonly stopped?: AbortSignal;
}

const commitCallbacks = new AsyncLocalStorage<(() => void)[]>();

/**
 * Gives repositories access to the database. Statements join the open transaction. Without an open transaction, each
 * statement commits on its own.
 */
@Injectable()
export class Transaction {
  constructor(private readonly host: TransactionHost<TransactionalAdapterTypeOrm>) {}

  get manager(): EntityManager {
    return this.host.tx;
  }

  /** Whether a transaction is open, which statements join. */
  get isOpen(): boolean {
    return this.host.isTransactionActive();
  }

  /**
   * Waits for the lock of this name and holds it until the transaction ends. Use it to enforce a rule across
   * rows that may not exist yet, such as a maximum count.
   */
  async lock(name: string): Promise<void> {
    await this.manager.query('SELECT pg_advisory_xact_lock($1)', [this.lockKey(name)]);
  }

  /** Like `lock()`, without waiting. @returns false if another transaction holds the lock */
  async tryLock(name: string): Promise<boolean> {
    const [{ acquired }] = await this.manager.query<[{ acquired: boolean }]>(
      'SELECT pg_try_advisory_xact_lock($1) AS acquired',
      [this.lockKey(name)],
    );
    return acquired;
  }

  private lockKey(name: string): string {
    if (!this.isOpen) throw new Error(`The lock ${name} requires an open transaction`);
    return advisoryLockKey(name);
  }

  /** Returns the row with an ID that a request names, which may be any text: PostgreSQL refuses all but UUIDs. */
  async findById<Row extends ObjectLiteral>(
    entity: EntityTarget<Row>,
    where: FindOptionsWhere<Row> & { readonly id: string },
  ): Promise<Row | null> {
    return isUUID(where.id) ? this.manager.findOneBy(entity, where) : null;
  }

  /** Returns the row, locked against concurrent changes until the transaction ends. Rows that refer to it can still be added. */
  async lockRow<Row extends ObjectLiteral>(
    entity: EntityTarget<Row>,
    where: FindOptionsWhere<Row>,
    check?: Check<Row>,
  ): Promise<Row | null> {
    const row = await this.manager.findOne(entity, { where, lock: { mode: 'for_no_key_update' } });
    if (row) check?.(row);
    return row;
  }

  /** Changes a row if it is as `where` says. @returns whether it was */
  async updateRow<Row extends ObjectLiteral>(
    entity: EntityTarget<Row>,
    where: FindOptionsWhere<Row>,
    changes: QueryDeepPartialEntity<Row>,
  ): Promise<boolean> {
    return (await this.manager.update(entity, where, changes)).affected === 1;
  }

  /** Deletes a row. @returns whether there was one; true for only one of several concurrent calls */
  async deleteRow<Row extends ObjectLiteral>(
    entity: EntityTarget<Row>,
    where: FindOptionsWhere<Row>,
  ): Promise<boolean> {
    return (await this.manager.delete(entity, where)).affected === 1;
  }

  /** Locks the table against concurrent changes until the transaction ends. */
  async lockTable(entity: EntityTarget<ObjectLiteral>): Promise<void> {
    const { tableName } = this.manager.connection.getMetadata(entity);
    await this.manager.query(`LOCK TABLE ${tableName} IN SHARE ROW EXCLUSIVE MODE`);
  }

  /** Inserts a row. @returns false if that would violate one of these unique constraints */
  async insertNew<Row extends object>(
    entity: EntityTarget<Row>,
    row: NewRow<Row>,
    ...constraints: readonly string[]
  ): Promise<boolean> {
    return unlessDuplicate(
      () => this.manager.insert(entity, row as QueryDeepPartialEntity<Row>),
      ...constraints,
    );
  }

  /**
   * Reads in the open transaction without a time limit, because nobody waits for it. The settings apply to this statement alone.
   *
   * @param settings further ones, such as `SET LOCAL enable_nestloop = off`
   */
  async readUntimed<Row extends object>(
    statement: string,
    values: readonly unknown[],
    settings = '',
  ): Promise<Row[]> {
    await this.manager.query(`SAVEPOINT untimed; SET LOCAL statement_timeout = 0; ${settings}`);
    const rows = await this.manager.query<Row[]>(statement, [...values]);
    await this.manager.query('ROLLBACK TO SAVEPOINT untimed');
    return rows;
  }

  /** Runs an UPDATE or a DELETE. @returns how many rows changed */
  async change(statement: string, values: unknown[]): Promise<number> {
    // For these statements, the driver returns the rows together with their number.
    const [, count] = await this.manager.query<[unknown, number]>(statement, values);
    return count;
  }

  /** Runs an UPDATE or a DELETE with RETURNING. @returns the rows */
  async changedRows<Row>(statement: string, values: unknown[]): Promise<Row[]> {
    const [rows] = await this.manager.query<[Row[], number]>(statement, values);
    return rows;
  }

  /** Deletes the rows whose time is before this one, a batch at a time. */
  async deleteBefore(
    time: Date | number,
    { table, key, column, condition = 'true', lock = 'FOR UPDATE SKIP LOCKED', stopped }: TimedRows,
  ): Promise<void> {
    const rows = `SELECT ${key} FROM ${table} WHERE ${column} < $1 AND (${condition}) ORDER BY ${column} LIMIT ${ROWS_PER_DELETION} ${lock}`;
    const deletion = `DELETE FROM ${table} WHERE (${key}) IN (${rows})`;
    while (!stopped?.aborted && (await this.change(deletion, [time])) === ROWS_PER_DELETION);
  }

  /**
   * Runs the callback once the transaction is committed, and never if it is rolled back. If the process crashes after
   * the commit, the callback is lost.
   */
  afterCommit(callback: () => void): void {
    const callbacks = commitCallbacks.getStore();
    if (!callbacks) throw new Error('afterCommit requires an open transaction');
    callbacks.push(callback);
  }
}

/**
 * Opens a transaction around a use case; nested calls join it. If PostgreSQL aborts the transaction in favor of
 * another one (SQLSTATE 40001, 40P01), or the connection is lost before COMMIT is sent, the whole method is retried. It runs at
 * most three times. If the connection is lost after that, nobody knows whether the transaction is committed.
 */
export function Transactional(): MethodDecorator {
  const inTransaction = InTransaction();
  return (target, property, descriptor: PropertyDescriptor) => {
    inTransaction(target, property, descriptor);
    const method = descriptor.value as (...values: unknown[]) => Promise<unknown>;
    descriptor.value = function (this: unknown, ...values: unknown[]): Promise<unknown> {
      const run = (): Promise<unknown> => method.apply(this, values);
      return TransactionHost.getInstance().isTransactionActive() ? run() : withRetries(run);
    };
  };
}

/** Gives all reads of the method the same snapshot of the data. The method must not write. */
export function Snapshot(): MethodDecorator {
  return InTransaction<TransactionalAdapterTypeOrm>(Propagation.RequiresNew, {
    isolationLevel: 'REPEATABLE READ',
  });
}

/**
 * Reruns a method whose transaction PostgreSQL aborted, and runs the commit callbacks after it succeeds. Use it only
 * for the outermost method, because nested methods commit or roll back together with that one.
 */
async function withRetries<T>(run: () => Promise<T>): Promise<T> {
  const start = performance.now();
  for (let attempt = 1; ; attempt += 1) {
    const callbacks: (() => void)[] = [];
    try {
      const result = await commitCallbacks.run(callbacks, run);
      for (const callback of callbacks) callback();
      return result;
    } catch (error) {
      // If COMMIT fails, the transaction may be committed.
      const isInDoubt = error instanceof QueryFailedError && error.query === 'COMMIT';
      const mayRetry = isTransient(error) || (isRepeatedAfter(error, start) && !isInDoubt);
      if (attempt >= MAX_ATTEMPTS || !mayRetry) throw error;
    }
  }
}
