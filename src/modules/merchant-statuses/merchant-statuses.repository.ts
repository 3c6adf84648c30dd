import { Injectable } from '@nestjs/common';
import { Transaction } from '../../infrastructure/database/index.js';
import type { AttributedClient } from '../../infrastructure/http/index.js';
import { MerchantStatus } from './merchant-status.entity.js';

@Injectable()
export class MerchantStatusesRepository {
  constructor(private readonly transaction: Transaction) {}

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
}
