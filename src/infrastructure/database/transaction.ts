import { AsyncLocalStorage } from 'node:async_hooks';
import { Propagation, Transactional as InTransaction, TransactionHost } from '@nestjs-cls/transactional';
import type { TransactionalAdapterTypeOrm } from '@nestjs-cls/transactional-adapter-typeorm';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { advisoryLockKey } from './advisory-lock.js';
import { isTransient } from './sql-state.js';

const ATTEMPTS = 3;

/** What waits for the commit of the transaction that is open. */
const waitingForCommit = new AsyncLocalStorage<(() => void)[]>();

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

  /** Calls this when the transaction is committed, and never when it is rolled back. A crash between the two loses it. */
  afterCommit(work: () => void): void {
    const waiting = waitingForCommit.getStore();
    if (!waiting) throw new Error('There is no transaction whose commit could be waited for');
    waiting.push(work);
  }
}

/**
 * Opens a transaction around a use case; nested calls join it. When PostgreSQL gives the transaction
 * up in favour of another (SQLSTATE 40001, 40P01), the whole method runs again, three times at most.
 */
export function Transactional(): MethodDecorator {
  return around(InTransaction(), (run) =>
    TransactionHost.getInstance().isTransactionActive() ? run() : whole(run),
  );
}

/**
 * Opens a transaction of its own, on a second connection where one is open already: what is written in it
 * stays, whatever becomes of the other. It must not need a lock that the other holds.
 */
export function TransactionalApart(): MethodDecorator {
  return around(InTransaction(Propagation.RequiresNew), whole);
}

/** Everything that the method reads is of one moment, however long it takes. It must not write. */
export function Snapshot(): MethodDecorator {
  return InTransaction<TransactionalAdapterTypeOrm>(Propagation.RequiresNew, {
    isolationLevel: 'REPEATABLE READ',
  });
}

/** Whoever joins a transaction must not run alone again, nor hear of a commit: it is lost or kept as a whole. */
async function whole<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const waiting: (() => void)[] = [];
    try {
      const result = await waitingForCommit.run(waiting, run);
      for (const work of waiting) work();
      return result;
    } catch (error) {
      if (attempt >= ATTEMPTS || !isTransient(error)) throw error;
    }
  }
}

type Runner = <T>(run: () => Promise<T>) => Promise<T>;

function around(inTransaction: MethodDecorator, runner: Runner): MethodDecorator {
  return (target, property, descriptor: PropertyDescriptor) => {
    inTransaction(target, property, descriptor);
    const method = descriptor.value as (...values: unknown[]) => Promise<unknown>;
    descriptor.value = function (this: unknown, ...values: unknown[]): Promise<unknown> {
      return runner(() => method.apply(this, values));
    };
  };
}
