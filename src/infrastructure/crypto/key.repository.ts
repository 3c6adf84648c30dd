import { Injectable } from '@nestjs/common';
import { Transaction } from '../database/index.js';

export interface WrappedDataKey {
  readonly id: number;
  readonly wrapped: Buffer;
}

/** Stores the encrypted data keys, and check values that reveal a wrong key at startup. */
@Injectable()
export class KeyRepository {
  constructor(private readonly transaction: Transaction) {}

  async dataKeys(): Promise<WrappedDataKey[]> {
    return this.transaction.manager.query('SELECT id, wrapped FROM data_key ORDER BY id');
  }

  /** Adds the first data key. If several processes start on an empty database, only one of them succeeds. */
  async addFirstDataKey(wrapped: Buffer): Promise<void> {
    await this.transaction.manager.query(
      'INSERT INTO data_key (id, wrapped) VALUES (1, $1) ON CONFLICT (id) DO NOTHING',
      [wrapped],
    );
  }

  async replace(id: number, wrapped: Buffer): Promise<void> {
    await this.transaction.manager.query('UPDATE data_key SET wrapped = $2 WHERE id = $1', [id, wrapped]);
  }

  /** Stores the value unless this name already has one. @returns the stored value */
  async storeCheckValue(name: string, value: Buffer): Promise<Buffer> {
    const [row] = await this.transaction.manager.query<[{ value: Buffer }]>(
      `INSERT INTO key_check (name, value) VALUES ($1, $2)
       ON CONFLICT (name) DO UPDATE SET value = key_check.value RETURNING value`,
      [name, value],
    );
    return row.value;
  }
}
