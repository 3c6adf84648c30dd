import { Injectable } from '@nestjs/common';
import { In, IsNull, Not } from 'typeorm';
import { Transaction } from '../../infrastructure/database/index.js';
import type { AttributedClient } from '../../infrastructure/http/index.js';
import { MerchantStatus } from './merchant-status.entity.js';
import type { SetMerchantStatusRequest } from './merchant-statuses.dto.js';

@Injectable()
export class MerchantStatusesRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Sets the status. If the status changes, resets the progress so that all clients are notified again. */
  async set(merchantId: number, { type, status }: SetMerchantStatusRequest, now: Date): Promise<void> {
    const { manager } = this.transaction;
    const row = { status, requestedAt: now, lastClientId: null, published: 0, finishedAt: null };
    const insertion = manager.createQueryBuilder().insert().into(MerchantStatus);
    await insertion
      .values({ merchantId, type, ...row })
      .orIgnore()
      .execute();
    await manager.update(MerchantStatus, { merchantId, type, status: Not(status) }, row);
  }

  async findByMerchants(merchantIds: readonly number[]): Promise<MerchantStatus[]> {
    return this.transaction.manager.find(MerchantStatus, {
      where: { merchantId: In([...merchantIds]) },
      order: { merchantId: 'ASC', type: 'ASC' },
    });
  }

  /**
   * Locks and returns the oldest status that clients still have to be notified of. Skips statuses that another transaction
   * has locked.
   */
  async lockPending(): Promise<MerchantStatus | null> {
    return this.transaction.manager.findOne(MerchantStatus, {
      where: { finishedAt: IsNull() },
      order: { requestedAt: 'ASC' },
      lock: { mode: 'pessimistic_write', onLocked: 'skip_locked' },
    });
  }

  /** Returns the next clients that do not hide the merchant. */
  async nextClients(
    { merchantId, lastClientId }: MerchantStatus,
    limit: number,
  ): Promise<AttributedClient[]> {
    return this.transaction.manager.query<AttributedClient[]>(
      `SELECT id AS "clientId", environment FROM api_client client
        WHERE ($2::uuid IS NULL OR id > $2)
          AND NOT EXISTS (SELECT FROM merchant_visibility hidden
                           WHERE hidden.organization_id = client.organization_id
                             AND hidden.environment = client.environment AND hidden.merchant_id = $1)
        ORDER BY id LIMIT $3`,
      [merchantId, lastClientId, limit],
    );
  }

  /** Records which clients were notified last. The status must be locked. */
  async recordProgress(
    { merchantId, type, lastClientId, published }: MerchantStatus,
    clients: readonly AttributedClient[],
    finishedAt: Date | null,
  ): Promise<void> {
    await this.transaction.manager.update(
      MerchantStatus,
      { merchantId, type },
      {
        lastClientId: clients.at(-1)?.clientId ?? lastClientId,
        published: published + clients.length,
        finishedAt,
      },
    );
  }
}
