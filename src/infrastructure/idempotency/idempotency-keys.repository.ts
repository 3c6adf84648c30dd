import { Injectable } from '@nestjs/common';
import { MoreThan } from 'typeorm';
import { Transaction } from '../database/index.js';
import { IdempotencyKey } from './idempotency-key.entity.js';

@Injectable()
export class IdempotencyKeysRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Reserves the key until the transaction ends. @returns false if another transaction has reserved it */
  reserve(keyHash: Buffer): Promise<boolean> {
    return this.transaction.tryLock(`idempotency key ${keyHash.toString('hex')}`);
  }

  find(keyHash: Buffer, after: Date): Promise<IdempotencyKey | null> {
    return this.transaction.manager.findOneBy(IdempotencyKey, { keyHash, createdAt: MoreThan(after) });
  }

  /** @returns how many responses were deleted */
  async delete(of: Partial<Pick<IdempotencyKey, 'userHash' | 'tokenHash'>>): Promise<number> {
    const { affected } = await this.transaction.manager.delete(IdempotencyKey, of);
    return affected ?? 0;
  }

  /** Stores the key. Replaces one that has expired and is not deleted yet. */
  async store(row: IdempotencyKey): Promise<void> {
    await this.transaction.manager.upsert(IdempotencyKey, row, ['keyHash']);
  }
}
