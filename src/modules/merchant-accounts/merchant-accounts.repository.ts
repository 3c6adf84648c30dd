import { Injectable } from '@nestjs/common';
import { Transaction } from '../../infrastructure/database/index.js';
import { MerchantAccount } from './merchant-account.entity.js';

export type AccountKey = Pick<MerchantAccount, 'clientId' | 'externalUserId' | 'merchantId'>;

/** Deletes merchant accounts. `sql/change-accounts.ts` adds them. */
@Injectable()
export class MerchantAccountsRepository {
  constructor(private readonly transaction: Transaction) {}

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
}
