import { Injectable } from '@nestjs/common';
import { longLists, Transaction } from '../../infrastructure/database/index.js';
import { HiddenMerchant, type Merchant, type MerchantName } from './merchant.entity.js';

/** Each environment of an organization has its own hidden merchants. */
export type OrganizationEnvironment = Pick<HiddenMerchant, 'organizationId' | 'environment'>;

/** Absent filters are not applied. */
export interface MerchantFilters {
  /**
   * The match keys of a name, the most literal first. Finds merchants with one of the keys as a name or alias, and those whose
   * name or alias contains the last key.
   */
  readonly matchKeys?: readonly string[] | undefined;
  readonly hidden?: boolean | undefined;
}

/** The place of a merchant in a list. */
export interface MerchantPosition {
  /** How well a name of the merchant matches: 0 is best. */
  readonly rank: number;
  /** The beginning of its name in lower case. */
  readonly beginning: string;
  readonly id: number;
}

/** A merchant, and whether the organization hides it. */
export type ListedMerchant = Merchant & MerchantPosition & { readonly hidden: boolean };

@Injectable()
export class MerchantsRepository {
  constructor(private readonly transaction: Transaction) {}

  /**
   * Returns the merchants that match the filters and come after a position, if there is one. Merchants with one of the keys come first, then
   * those with a name that begins with the last key, then the others, each in the order of their names: of the first 60 letters,
   * so that positions are short.
   */
  async page(
    { organizationId, environment }: OrganizationEnvironment,
    { matchKeys, hidden }: MerchantFilters,
    limit: number,
    { rank, beginning, id }: Partial<MerchantPosition> = {},
  ): Promise<ListedMerchant[]> {
    const statement = `WITH matching AS (
       SELECT merchant_id, min(CASE WHEN match_key = ANY ($3) THEN 0 WHEN starts_with(match_key, $4) THEN 1 ELSE 2 END) AS rank
         FROM merchant_name
        WHERE match_key = ANY ($3::text[]) OR strpos(match_key, $4::text) > 0
        GROUP BY merchant_id),
       found AS (
       SELECT id, name, coalesce(matching.rank, 0) AS rank, lower(left(name, 60)) AS beginning
         FROM merchant LEFT JOIN matching ON matching.merchant_id = id
        WHERE $3 IS NULL OR matching.rank IS NOT NULL)
       SELECT id, name, hidden_at IS NOT NULL AS hidden, rank, beginning
         FROM found
         LEFT JOIN merchant_visibility ON merchant_id = id AND organization_id = $1 AND environment = $2
        WHERE ($5::boolean IS NULL OR (hidden_at IS NOT NULL) = $5)
          AND ($6::integer IS NULL OR (rank, beginning, id) > ($6, $7, $8::integer))
        ORDER BY rank, beginning, id LIMIT $9`;
    const key = matchKeys?.at(-1);
    const values = [organizationId, environment, matchKeys, key, hidden, rank, beginning, id, limit];
    return longLists.run(organizationId, () =>
      this.transaction.manager.query<ListedMerchant[]>(statement, values),
    );
  }

  /** @returns whether the merchant was shown until now */
  async hide({ organizationId, environment, merchantId, hiddenAt }: HiddenMerchant): Promise<boolean> {
    const rows = await this.transaction.manager.query<unknown[]>(
      `INSERT INTO merchant_visibility (organization_id, environment, merchant_id, hidden_at)
       VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING merchant_id`,
      [organizationId, environment, merchantId, hiddenAt],
    );
    return rows.length > 0;
  }

  /** Adds new merchants and updates changed names. Writes nothing if nothing has changed. */
  async saveMerchants(merchants: readonly Merchant[]): Promise<void> {
    await this.transaction.manager.query(
      `INSERT INTO merchant (id, name) SELECT * FROM unnest($1::integer[], $2::text[]) ORDER BY 1
       ON CONFLICT (id) DO UPDATE SET name = excluded.name WHERE merchant.name <> excluded.name`,
      [merchants.map(({ id }) => id), merchants.map(({ name }) => name)],
    );
  }

  /** Adds new match keys. A key that an operator assigned to another merchant stays there. */
  async saveNames(names: readonly MerchantName[]): Promise<void> {
    await this.transaction.manager.query(
      `INSERT INTO merchant_name (match_key, merchant_id) SELECT * FROM unnest($1::text[], $2::integer[]) ORDER BY 1
       ON CONFLICT (match_key) DO NOTHING`,
      [names.map(({ matchKey }) => matchKey), names.map(({ merchantId }) => merchantId)],
    );
  }

  async idsByMatchKey(matchKeys: readonly string[]): Promise<Map<string, number>> {
    const rows = await this.transaction.manager.query<{ matchKey: string; merchantId: number }[]>(
      `SELECT match_key AS "matchKey", merchant_id AS "merchantId" FROM merchant_name WHERE match_key = ANY ($1)`,
      [matchKeys],
    );
    return new Map(rows.map((row) => [row.matchKey, row.merchantId]));
  }
}
