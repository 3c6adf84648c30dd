import { Injectable } from '@nestjs/common';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { Transaction } from '../../infrastructure/database/index.js';
import type { Merchant } from './merchant.entity.js';

/** The organization and environment that a visibility applies to. */
export interface Viewer {
  readonly organizationId: string;
  readonly environment: PlatformEnvironment;
}

/** Absent filters are not applied. */
export interface MerchantFilters {
  /** A part of the match key of the merchant's name or of one of its aliases. */
  readonly matchKey: string | undefined;
  readonly hidden: boolean | undefined;
  /** The ID of the last merchant before the page. */
  readonly after: number | undefined;
}

/** A merchant, and whether the organization hides it. */
export interface MerchantWithVisibility extends Merchant {
  readonly hidden: boolean;
}

@Injectable()
export class MerchantsRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Returns merchants in the order of their names. */
  async list({ organizationId, environment }: Viewer, limit: number): Promise<MerchantWithVisibility[]> {
    return this.transaction.manager.query<MerchantWithVisibility[]>(
      `SELECT id, name, hidden_at IS NOT NULL AS hidden
         FROM merchant
         LEFT JOIN merchant_visibility ON merchant_id = id AND organization_id = $1 AND environment = $2
        ORDER BY lower(name), id LIMIT $3`,
      [organizationId, environment, limit],
    );
  }

  /** Returns the merchants that match the filters and come after another merchant, in the order of their names. */
  async page(
    { organizationId, environment }: Viewer,
    { matchKey, hidden, after }: MerchantFilters,
    limit: number,
  ): Promise<MerchantWithVisibility[]> {
    return this.transaction.manager.query<MerchantWithVisibility[]>(
      `SELECT id, name, hidden_at IS NOT NULL AS hidden
         FROM merchant
         LEFT JOIN merchant_visibility ON merchant_id = id AND organization_id = $1 AND environment = $2
        WHERE ($3::text IS NULL OR id IN (SELECT merchant_id FROM merchant_name WHERE strpos(match_key, $3) > 0))
          AND ($4::boolean IS NULL OR (hidden_at IS NOT NULL) = $4)
          AND ($5::integer IS NULL OR (lower(name), id) > (SELECT lower(name), id FROM merchant WHERE id = $5))
        ORDER BY lower(name), id LIMIT $6`,
      [organizationId, environment, matchKey ?? null, hidden ?? null, after ?? null, limit],
    );
  }

  /** @returns whether the merchant was visible until now */
  async hide({ organizationId, environment }: Viewer, merchantId: number, now: Date): Promise<boolean> {
    const rows = await this.transaction.manager.query<unknown[]>(
      `INSERT INTO merchant_visibility (organization_id, environment, merchant_id, hidden_at)
       VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING merchant_id`,
      [organizationId, environment, merchantId, now],
    );
    return rows.length > 0;
  }

  /** @returns whether the merchant was hidden until now */
  async activate({ organizationId, environment }: Viewer, merchantId: number): Promise<boolean> {
    const [, count] = await this.transaction.manager.query<[unknown, number]>(
      'DELETE FROM merchant_visibility WHERE organization_id = $1 AND environment = $2 AND merchant_id = $3',
      [organizationId, environment, merchantId],
    );
    return count > 0;
  }
}
