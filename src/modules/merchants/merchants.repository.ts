import { Injectable } from '@nestjs/common';
import { Transaction } from '../../infrastructure/database/index.js';
import { Merchant } from './merchant.entity.js';

@Injectable()
export class MerchantsRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Adds what is new and renames what has another name; statements that find nothing to do write nothing. */
  async saveMerchants(merchants: readonly Merchant[]): Promise<void> {
    await this.transaction.manager.query(
      `INSERT INTO merchant (id, name) SELECT * FROM unnest($1::integer[], $2::text[])
       ON CONFLICT (id) DO UPDATE SET name = excluded.name WHERE merchant.name <> excluded.name`,
      [merchants.map(({ id }) => id), merchants.map(({ name }) => name)],
    );
  }

  /** A key that an operator gave to another merchant stays where it is. */
  async saveNames(names: readonly { matchKey: string; merchantId: number }[]): Promise<void> {
    await this.transaction.manager.query(
      `INSERT INTO merchant_name (match_key, merchant_id) SELECT * FROM unnest($1::text[], $2::integer[])
       ON CONFLICT (match_key) DO NOTHING`,
      [names.map(({ matchKey }) => matchKey), names.map(({ merchantId }) => merchantId)],
    );
  }

  /** The merchants that go by these match keys. */
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

  /** Those of the ids that exist. */
  async knownIds(ids: readonly number[]): Promise<Set<number>> {
    const rows = await this.transaction.manager.query<{ id: number }[]>(
      'SELECT id FROM merchant WHERE id = ANY ($1)',
      [ids],
    );
    return new Set(rows.map(({ id }) => id));
  }
}
