import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { In } from 'typeorm';
import { INVALID_FIELD } from '../../infrastructure/errors/index.js';
import { Transaction, Transactional } from '../../infrastructure/database/index.js';
import { MINUTE } from '../../infrastructure/time/index.js';
import { matchKey, matchKeys } from './match-key.js';
import { HiddenMerchant, Merchant } from './merchant.entity.js';
import { MerchantsRepository, type OrganizationEnvironment } from './merchants.repository.js';
import { MERCHANT_NOT_FOUND } from './merchants-errors.js';

export interface CatalogEntry {
  readonly id: number;
  readonly name: string;
}

interface BundledMerchant extends CatalogEntry {
  readonly aliases?: readonly string[];
}

/**
 * Reads the merchants that every installation has.
 *
 * IDs are part of the published API: an ID never changes and is never reused, even if its merchant is removed. IDs in
 * `merchants.json` stay below `FIRST_OPERATOR_ID`.
 *
 * Matching ignores case, accents, punctuation and spacing, so add an alias only if letters differ: `Disney Plus` for
 * `Disney+`, but not `Wal-Mart` for `Walmart`. No two names or aliases may match each other.
 */
export function bundledMerchants(): readonly BundledMerchant[] {
  return JSON.parse(
    readFileSync(join(import.meta.dirname, 'merchants.json'), 'utf8'),
  ) as readonly BundledMerchant[];
}

/** The sequence of the table starts here: the ID of a merchant that an operator inserts with SQL. */
export const FIRST_OPERATOR_ID = 10_000;
/** `byIds` reads its result from the cache, so a call with more IDs than this would not find all of them. */
const MAX_CACHED = 100_000;
/** PostgreSQL's `integer`. */
export const MAX_MERCHANT_ID = 2 ** 31 - 1;

/** Returns the ID in a text, or undefined if it is too large or has a sign or leading zeros. */
export function parseMerchantId(text: string): number | undefined {
  const id = Number(text);
  return /^[1-9]\d{0,9}$/.test(text) && id <= MAX_MERCHANT_ID ? id : undefined;
}

/**
 * Returns the merchants with these IDs, in the same order.
 *
 * @param ids undefined for a name that no merchant has
 * @param field name of the array that the request contains
 * @throws ApiError MERCHANT_NOT_FOUND for the first one that does not exist
 */
export function requireMerchants(
  ids: readonly (number | undefined)[],
  known: ReadonlyMap<number, CatalogEntry>,
  field: string,
): CatalogEntry[] {
  return ids.map((id, index) => {
    const merchant = id === undefined ? undefined : known.get(id);
    if (!merchant) throw MERCHANT_NOT_FOUND.error(`The merchant in ${field}[${index}] does not exist.`);
    return merchant;
  });
}

/**
 * Imports the bundled merchants at startup, and finds merchants by name or ID. `MerchantsService` has the lists of
 * merchants, and changes which of them an organization hides.
 */
@Injectable()
export class MerchantCatalogService implements OnApplicationBootstrap {
  /** Cached, because publishing nearly every event looks one up. With `max`, it would allocate 4 MB at the start, which takes 10 ms. */
  private readonly cache = new LRUCache<number, CatalogEntry>({
    maxSize: MAX_CACHED,
    sizeCalculation: () => 1,
    ttl: MINUTE,
  });

  constructor(
    private readonly transaction: Transaction,
    private readonly repository: MerchantsRepository,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.importCatalog();
  }

  /** Adds new merchants and match keys, and updates changed names. */
  @Transactional()
  async importCatalog(): Promise<void> {
    const merchants = bundledMerchants();
    await this.repository.saveMerchants(merchants);
    await this.repository.saveNames(
      merchants.flatMap(({ id, name, aliases = [] }) =>
        [name, ...aliases].map((spelling) => ({ matchKey: matchKey(spelling), merchantId: id })),
      ),
    );
  }

  /** Returns the IDs of merchants by match key. Keys of no merchant are absent. */
  idsByMatchKey(keys: readonly string[]): Promise<Map<string, number>> {
    return this.repository.idsByMatchKey(keys);
  }

  /** Returns the IDs of merchants by name. Names that match no merchant are absent. */
  async idsByName(names: readonly string[]): Promise<Map<string, number>> {
    const keys = new Map(names.map((name) => [name, matchKeys(name)]));
    const ids = await this.idsByMatchKey([...new Set([...keys.values()].flat())]);
    return new Map(
      [...keys].flatMap(([name, ofName]) => {
        const id = ids.get(ofName.find((key) => ids.has(key)) ?? '');
        return id === undefined ? [] : [[name, id] as const];
      }),
    );
  }

  /**
   * Returns the merchant with an ID, which may be a text from the path of a request.
   *
   * @throws ApiError MERCHANT_NOT_FOUND
   */
  async require(id: string | number): Promise<CatalogEntry> {
    const number = parseMerchantId(String(id));
    return MERCHANT_NOT_FOUND.requireFound(number && (await this.byIds([number])).get(number));
  }

  /**
   * Returns the ID of a merchant from a name in any common spelling, or from the ID as a text.
   *
   * @param field of the form that asks for the merchant
   * @throws ApiError INVALID_FIELD if no merchant has the name
   */
  async idFrom(text: string, field: string): Promise<number> {
    const id = (await this.idsByName([text])).get(text) ?? parseMerchantId(text);
    if (id === undefined)
      throw INVALID_FIELD.error('No merchant has this name. Choose one from the list.', { field });
    return id;
  }

  /** @throws ApiError MERCHANT_NOT_FOUND also if the organization hides the merchant in this environment */
  async requireVisible(scope: OrganizationEnvironment, id: number): Promise<CatalogEntry> {
    const merchant = await this.require(id);
    const key = { ...scope, merchantId: id };
    if (await this.transaction.manager.existsBy(HiddenMerchant, key)) throw MERCHANT_NOT_FOUND.error();
    return merchant;
  }

  /**
   * Returns merchants by ID. The numbers need not be valid IDs. Unknown IDs are absent. A changed name shows after a minute at the
   * latest.
   */
  async byIds(ids: readonly number[]): Promise<Map<number, CatalogEntry>> {
    // Read now: an entry may expire during the query.
    const cached = ids.map((id) => this.cache.get(id)).filter((merchant) => merchant !== undefined);
    const found = new Map(cached.map((merchant) => [merchant.id, merchant]));
    const unknown = ids.filter((id) => id >= 1 && id <= MAX_MERCHANT_ID && !found.has(id));
    if (unknown.length === 0) return found;
    for (const { id, name } of await this.transaction.manager.findBy(Merchant, { id: In(unknown) })) {
      this.cache.set(id, { id, name });
      found.set(id, { id, name });
    }
    return found;
  }
}
