import { Injectable } from '@nestjs/common';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { Transaction } from '../../infrastructure/database/index.js';
import { Merchant } from './merchant.entity.js';

/** Whose view of the merchants it is about. */
export interface Viewer {
  readonly organizationId: string;
  readonly environment: PlatformEnvironment;
}

/** A merchant as an organization has it. */
export interface VisibleMerchant extends Merchant {
  readonly hidden: boolean;
}

@Injectable()
export class MerchantVisibilityRepository {
  constructor(private readonly transaction: Transaction) {}

  /** In the order of their names. */
  async merchants({ organizationId, environment }: Viewer, most: number): Promise<VisibleMerchant[]> {
    return this.transaction.manager.query<VisibleMerchant[]>(
      `SELECT id, name, hidden_at IS NOT NULL AS hidden
         FROM merchant
         LEFT JOIN merchant_visibility ON merchant_id = id AND organization_id = $1 AND environment = $2
        ORDER BY lower(name), id LIMIT $3`,
      [organizationId, environment, most],
    );
  }

  async merchant(id: number): Promise<Merchant | null> {
    return this.transaction.manager.findOneBy(Merchant, { id });
  }

  /** @returns whether it was to be seen until now */
  async hide({ organizationId, environment }: Viewer, merchantId: number, now: Date): Promise<boolean> {
    const rows = await this.transaction.manager.query<unknown[]>(
      `INSERT INTO merchant_visibility (organization_id, environment, merchant_id, hidden_at)
       VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING merchant_id`,
      [organizationId, environment, merchantId, now],
    );
    return rows.length > 0;
  }

  /** @returns whether it was hidden until now */
  async activate({ organizationId, environment }: Viewer, merchantId: number): Promise<boolean> {
    const [, count] = await this.transaction.manager.query<[unknown, number]>(
      'DELETE FROM merchant_visibility WHERE organization_id = $1 AND environment = $2 AND merchant_id = $3',
      [organizationId, environment, merchantId],
    );
    return count > 0;
  }
}
