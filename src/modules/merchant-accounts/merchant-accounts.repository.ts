import { Injectable } from '@nestjs/common';
import { MoreThan } from 'typeorm';
import { Transaction } from '../../infrastructure/database/index.js';
import { MerchantAccount } from './merchant-account.entity.js';

export type AccountKey = Pick<MerchantAccount, 'clientId' | 'externalUserId' | 'merchantId'>;

/** Reads, disconnects and deletes merchant accounts. `sql/change-accounts.ts` adds them. */
@Injectable()
export class MerchantAccountsRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Returns the account and locks it until the transaction ends. */
  async lock(key: AccountKey): Promise<MerchantAccount | null> {
    return this.transaction.manager.findOne(MerchantAccount, {
      where: key,
      lock: { mode: 'pessimistic_write' },
    });
  }

  /** Deletes accounts of the user. @returns them */
  async deleteOfUser(
    clientId: string,
    externalUserId: string,
    limit: number,
  ): Promise<Pick<MerchantAccount, 'sessionId'>[]> {
    return this.transaction.changedRows<Pick<MerchantAccount, 'sessionId'>>(
      `DELETE FROM merchant_account WHERE client_id = $1 AND external_user_id = $2 AND merchant_id IN (
         SELECT merchant_id FROM merchant_account WHERE client_id = $1 AND external_user_id = $2
          ORDER BY merchant_id LIMIT $3)
        RETURNING session_id AS "sessionId"`,
      [clientId, externalUserId, limit],
    );
  }

  async disconnect(key: AccountKey, stateSetAt: Date): Promise<void> {
    await this.transaction.manager.update(MerchantAccount, key, { state: 'disconnected', stateSetAt });
  }

  /** Returns the user's accounts in the order of the merchant IDs, which does not change when the state of an account does. */
  async ofUser(
    clientId: string,
    externalUserId: string,
    { after, limit }: { readonly after: number; readonly limit: number },
  ): Promise<MerchantAccount[]> {
    return this.transaction.manager.find(MerchantAccount, {
      where: { clientId, externalUserId, merchantId: MoreThan(after) },
      order: { merchantId: 'ASC' },
      take: limit,
    });
  }
}
