import { Injectable } from '@nestjs/common';
import { Transaction } from '../../infrastructure/database/index.js';
import { MerchantVisibility } from './merchant-visibility.entity.js';
import { Merchant } from './merchant.entity.js';
import type { Viewer } from './merchants.repository.js';

@Injectable()
export class MerchantCatalogRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Adds new merchants and updates changed names. Writes nothing if nothing has changed. */
  async saveMerchants(merchants: readonly Merchant[]): Promise<void> {
    await this.transaction.manager.query(
      `INSERT INTO merchant (id, name) SELECT * FROM unnest($1::integer[], $2::text[])
       ON CONFLICT (id) DO UPDATE SET name = excluded.name WHERE merchant.name <> excluded.name`,
      [merchants.map(({ id }) => id), merchants.map(({ name }) => name)],
    );
  }

  /** Adds new match keys. A key that an operator assigned to another merchant stays there. */
  async saveNames(names: readonly { matchKey: string; merchantId: number }[]): Promise<void> {
    await this.transaction.manager.query(
      `INSERT INTO merchant_name (match_key, merchant_id) SELECT * FROM unnest($1::text[], $2::integer[])
       ON CONFLICT (match_key) DO NOTHING`,
      [names.map(({ matchKey }) => matchKey), names.map(({ merchantId }) => merchantId)],
    );
  }

  /** Returns the ids of merchants by match key. */
  async idsByMatchKey(matchKeys: readonly string[]): Promise<Map<string, number>> {
    const rows = await this.transaction.manager.query<{ matchKey: string; merchantId: number }[]>(
      `SELECT match_key AS "matchKey", merchant_id AS "merchantId" FROM merchant_name WHERE match_key = ANY ($1)`,
      [matchKeys],
    );
    return new Map(rows.map((row) => [row.matchKey, row.merchantId]));
  }

  async byIds(ids: readonly number[]): Promise<Merchant[]> {
    return this.transaction.manager.query<Merchant[]>('SELECT id, name FROM merchant WHERE id = ANY ($1)', [
      ids,
    ]);
  }

  async isHidden({ organizationId, environment }: Viewer, merchantId: number): Promise<boolean> {
    return this.transaction.manager.existsBy(MerchantVisibility, { organizationId, environment, merchantId });
  }
}
