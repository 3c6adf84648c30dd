import { Injectable } from '@nestjs/common';
import { Transaction } from '../../infrastructure/database/index.js';
import { HoldsUserData, type ErasedUser, type UserDataHolder } from '../../infrastructure/erasure/index.js';
import type { DetectedAccount } from './detected-account.entity.js';
// Only SQL uses the entity: the import registers it.
import './detected-account.entity.js';

type AccountKey = Pick<DetectedAccount, 'clientId' | 'externalUserId' | 'merchantId'>;

const ACCOUNTS_PER_ERASURE = 1_000;

@HoldsUserData('data')
@Injectable()
export class DetectedAccountsRepository implements UserDataHolder {
  constructor(private readonly transaction: Transaction) {}

  eraseBatch({ clientId, externalUserId }: ErasedUser): Promise<number> {
    return this.transaction.change(
      `DELETE FROM detected_account WHERE client_id = $1 AND external_user_id = $2 AND merchant_id IN (
         SELECT merchant_id FROM detected_account WHERE client_id = $1 AND external_user_id = $2
          ORDER BY merchant_id LIMIT $3 FOR UPDATE)`,
      [clientId, externalUserId, ACCOUNTS_PER_ERASURE],
    );
  }

  /**
   * Adds the accounts. An account that exists already keeps the earlier of the two times.
   *
   * @returns the accounts that were not known before, ordered by client, user and merchant ID
   */
  async record(accounts: readonly DetectedAccount[]): Promise<AccountKey[]> {
    return this.transaction.manager.query<AccountKey[]>(
      `WITH recorded AS (
       INSERT INTO detected_account (client_id, external_user_id, merchant_id, detected_at)
       SELECT client_id, external_user_id, merchant_id, min(detected_at)
         FROM unnest($1::uuid[], $2::text[], $3::integer[], $4::timestamptz[])
              AS found (client_id, external_user_id, merchant_id, detected_at)
        GROUP BY client_id, external_user_id, merchant_id
        ORDER BY client_id, external_user_id, merchant_id
       ON CONFLICT (client_id, external_user_id, merchant_id) DO UPDATE
          SET detected_at = excluded.detected_at WHERE excluded.detected_at < detected_account.detected_at
       -- PostgreSQL sets xmax in rows that the statement updates, not in those that it inserts.
       RETURNING client_id, external_user_id, merchant_id, xmax = 0 AS is_new)
       SELECT client_id AS "clientId", external_user_id AS "externalUserId", merchant_id AS "merchantId"
         FROM recorded WHERE is_new ORDER BY client_id, external_user_id, merchant_id`,
      [
        accounts.map((account) => account.clientId),
        accounts.map((account) => account.externalUserId),
        accounts.map((account) => account.merchantId),
        accounts.map((account) => account.detectedAt),
      ],
    );
  }
}
