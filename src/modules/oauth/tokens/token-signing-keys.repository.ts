import { Injectable } from '@nestjs/common';
import { Transaction } from '../../../infrastructure/database/index.js';
import { TokenSigningKey } from './token-signing-key.entity.js';

@Injectable()
export class TokenSigningKeysRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Locks the table against concurrent changes until the transaction ends. @returns all keys, newest first */
  async lockAll(): Promise<TokenSigningKey[]> {
    await this.transaction.manager.query('LOCK TABLE token_signing_key IN SHARE ROW EXCLUSIVE MODE');
    return this.all();
  }

  /** Returns all keys, newest first. */
  async all(): Promise<TokenSigningKey[]> {
    return this.transaction.manager.find(TokenSigningKey, { order: { signsFrom: 'DESC' } });
  }

  async add(key: TokenSigningKey): Promise<void> {
    await this.transaction.manager.insert(TokenSigningKey, key);
  }

  async delete(kid: string): Promise<void> {
    await this.transaction.manager.delete(TokenSigningKey, { kid });
  }
}
