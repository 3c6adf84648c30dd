import { Injectable } from '@nestjs/common';
import { Transaction } from '../../infrastructure/database/index.js';
import type { AttributedClient } from '../../infrastructure/http/index.js';
import type { SetMerchantStatusRequest } from './merchant-statuses.dto.js';

/** The last status of a merchant for a type of session, and the progress of notifying clients of it. */
export interface MerchantStatus extends SetMerchantStatusRequest {
  readonly merchantId: number;
  readonly requestedAt: Date;
  /** The last client that the event was published for, in the order of their IDs; null at first. */
  readonly lastClientId: string | null;
  readonly published: number;
  readonly finishedAt: Date | null;
}

const COLUMNS = `merchant_id AS "merchantId", type, status, requested_at AS "requestedAt",
  last_client_id AS "lastClientId", published, finished_at AS "finishedAt"`;

@Injectable()
export class MerchantStatusesRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Sets the status. If it changes, clients have to be notified from the beginning. */
  async set(merchantId: number, { type, status }: SetMerchantStatusRequest, now: Date): Promise<void> {
    await this.transaction.manager.query(
      `INSERT INTO merchant_status (merchant_id, type, status, requested_at) VALUES ($1, $2, $3, $4)
           ON CONFLICT (merchant_id, type) DO UPDATE
              SET status = excluded.status, requested_at = excluded.requested_at, last_client_id = NULL,
                  published = 0, finished_at = NULL
            WHERE merchant_status.status <> excluded.status`,
      [merchantId, type, status, now],
    );
  }

  async of(merchantId: number): Promise<MerchantStatus[]> {
    return this.transaction.manager.query<MerchantStatus[]>(
      `SELECT ${COLUMNS} FROM merchant_status WHERE merchant_id = $1 ORDER BY type`,
      [merchantId],
    );
  }

  async ofAll(merchantIds: readonly number[]): Promise<MerchantStatus[]> {
    return this.transaction.manager.query<MerchantStatus[]>(
      `SELECT ${COLUMNS} FROM merchant_status WHERE merchant_id = ANY ($1) ORDER BY merchant_id, type`,
      [merchantIds],
    );
  }

  /** Locks a status that clients have to be notified of, unless another transaction does so. */
  async lockPending(): Promise<MerchantStatus | undefined> {
    const [status] = await this.transaction.manager.query<MerchantStatus[]>(
      `SELECT ${COLUMNS} FROM merchant_status WHERE finished_at IS NULL
        ORDER BY requested_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
    );
    return status;
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

  async progress(
    { merchantId, type }: MerchantStatus,
    clients: readonly AttributedClient[],
    finishedAt: Date | null,
  ): Promise<void> {
    await this.transaction.manager.query(
      `UPDATE merchant_status
          SET last_client_id = coalesce($3, last_client_id), published = published + $4, finished_at = $5
        WHERE merchant_id = $1 AND type = $2`,
      [merchantId, type, clients.at(-1)?.clientId ?? null, clients.length, finishedAt],
    );
  }
}
