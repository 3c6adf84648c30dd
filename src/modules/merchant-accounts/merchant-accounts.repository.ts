import { Injectable } from '@nestjs/common';
import { Transaction } from '../../infrastructure/database/index.js';
import { MerchantAccount } from './merchant-account.entity.js';

export type AccountKey = Pick<MerchantAccount, 'clientId' | 'externalUserId' | 'merchantId'>;

/** Counts and deletes merchant accounts. `sql/change-accounts.ts` adds them. */
@Injectable()
export class MerchantAccountsRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Returns the number of connected accounts of each user who has one. */
  async countsOf(clientId: string, users: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.transaction.manager.query<{ user: string; accounts: number }[]>(
      `SELECT external_user_id AS user, count(*)::int AS accounts FROM merchant_account
        WHERE client_id = $1 AND external_user_id = ANY ($2) AND state = 'connected' GROUP BY 1`,
      [clientId, users],
    );
    return new Map(rows.map(({ user, accounts }) => [user, accounts]));
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
          ORDER BY merchant_id LIMIT $3 FOR UPDATE)
        RETURNING session_id AS "sessionId"`,
      [clientId, externalUserId, limit],
    );
  }
}
