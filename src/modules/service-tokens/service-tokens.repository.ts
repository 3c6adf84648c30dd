import { Injectable } from '@nestjs/common';
import { IsNull, LessThanOrEqual, Or } from 'typeorm';
import { Transaction } from '../../infrastructure/database/index.js';
import { ServiceToken } from './service-token.entity.js';

@Injectable()
export class ServiceTokensRepository {
  constructor(private readonly transaction: Transaction) {}

  async add(token: ServiceToken): Promise<void> {
    await this.transaction.manager.insert(ServiceToken, token);
  }

  /** Returns all tokens, oldest first. */
  async list(): Promise<ServiceToken[]> {
    return this.transaction.manager.find(ServiceToken, { order: { createdAt: 'ASC', id: 'ASC' } });
  }

  async withDigest(digest: Buffer): Promise<ServiceToken | null> {
    return this.transaction.manager.findOneBy(ServiceToken, { digest });
  }

  /** Returns a token and locks it until the transaction ends, so that concurrent changes run one after the other. */
  async lock(id: string): Promise<ServiceToken | null> {
    return this.transaction.manager.findOne(ServiceToken, {
      where: { id },
      lock: { mode: 'pessimistic_write' },
    });
  }

  async setExpiry(id: string, expiresAt: Date): Promise<void> {
    await this.transaction.manager.update(ServiceToken, { id }, { expiresAt });
  }

  /** Keeps the time of an earlier revocation. */
  async revoke(id: string, now: Date): Promise<void> {
    await this.transaction.manager.update(ServiceToken, { id, revokedAt: IsNull() }, { revokedAt: now });
  }

  /** Records a use, unless a process has recorded one after `unlessAfter`. */
  async recordUse(id: string, now: Date, unlessAfter: Date): Promise<void> {
    await this.transaction.manager.update(
      ServiceToken,
      { id, lastUsedAt: Or(IsNull(), LessThanOrEqual(unlessAfter)) },
      { lastUsedAt: now },
    );
  }
}
