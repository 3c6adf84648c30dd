import { Transactional as JoinTransaction, TransactionHost } from '@nestjs-cls/transactional';
import type { TransactionalAdapterTypeOrm } from '@nestjs-cls/transactional-adapter-typeorm';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { isTransient } from './sql-state.js';

const ATTEMPTS = 3;

/** Repositories take their statements' connection from here: the open transaction's, or any. */
@Injectable()
export class Transaction {
  constructor(private readonly host: TransactionHost<TransactionalAdapterTypeOrm>) {}

  get manager(): EntityManager {
    return this.host.tx;
  }
}

/**
 * Opens a transaction around a use case; nested calls join it. When PostgreSQL gives the transaction
 * up in favour of another (SQLSTATE 40001, 40P01), the whole method runs again, three times at most.
 */
export function Transactional(): MethodDecorator {
  return (target, property, descriptor: PropertyDescriptor) => {
    JoinTransaction()(target, property, descriptor);
    const inTransaction = descriptor.value as (...values: unknown[]) => Promise<unknown>;
    descriptor.value = async function (this: unknown, ...values: unknown[]): Promise<unknown> {
      // Whoever joins must not run alone again: its transaction is lost as a whole.
      const attempts = TransactionHost.getInstance().isTransactionActive() ? 1 : ATTEMPTS;
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await inTransaction.apply(this, values);
        } catch (error) {
          if (attempt >= attempts || !isTransient(error)) throw error;
        }
      }
    };
  };
}
