import { Propagation, Transactional as InTransaction, TransactionHost } from '@nestjs-cls/transactional';
import type { TransactionalAdapterTypeOrm } from '@nestjs-cls/transactional-adapter-typeorm';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { advisoryLockKey } from './advisory-lock.js';
import { isTransient } from './sql-state.js';

const ATTEMPTS = 3;

/** Repositories take their statements' connection from here: the open transaction's, or any. */
@Injectable()
export class Transaction {
  constructor(private readonly host: TransactionHost<TransactionalAdapterTypeOrm>) {}

  get manager(): EntityManager {
    return this.host.tx;
  }

  /**
   * Waits for the lock of this name and holds it until the transaction ends: for rules about several rows,
   * some of which may not be there yet, such as a limit.
   */
  async lock(name: string): Promise<void> {
    if (!this.host.isTransactionActive()) throw new Error(`The lock ${name} needs a transaction to hold it`);
    await this.manager.query('SELECT pg_advisory_xact_lock($1)', [advisoryLockKey(name)]);
  }
}

/**
 * Opens a transaction around a use case; nested calls join it. When PostgreSQL gives the transaction
 * up in favour of another (SQLSTATE 40001, 40P01), the whole method runs again, three times at most.
 */
export function Transactional(): MethodDecorator {
  // Whoever joins must not run alone again: its transaction is lost as a whole.
  return tried(InTransaction(), () => (TransactionHost.getInstance().isTransactionActive() ? 1 : ATTEMPTS));
}

/**
 * Opens a transaction of its own, on a second connection where one is open already: what is written in it
 * stays, whatever becomes of the other. It must not need a lock that the other holds.
 */
export function TransactionalApart(): MethodDecorator {
  return tried(InTransaction(Propagation.RequiresNew), () => ATTEMPTS);
}

/** Everything that the method reads is of one moment, however long it takes. It must not write. */
export function Snapshot(): MethodDecorator {
  return InTransaction<TransactionalAdapterTypeOrm>(Propagation.RequiresNew, {
    isolationLevel: 'REPEATABLE READ',
  });
}

function tried(inTransaction: MethodDecorator, mostAttempts: () => number): MethodDecorator {
  return (target, property, descriptor: PropertyDescriptor) => {
    inTransaction(target, property, descriptor);
    const method = descriptor.value as (...values: unknown[]) => Promise<unknown>;
    descriptor.value = async function (this: unknown, ...values: unknown[]): Promise<unknown> {
      const attempts = mostAttempts();
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await method.apply(this, values);
        } catch (error) {
          if (attempt >= attempts || !isTransient(error)) throw error;
        }
      }
    };
  };
}
