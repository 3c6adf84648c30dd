import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Transactional } from '../../infrastructure/database/index.js';
import { LRUCache } from 'lru-cache';
import { MINUTE } from '../../infrastructure/time/index.js';
import { matchKey, matchKeys } from './match-key.js';
import { MERCHANT_CATALOG } from './merchant-catalog.js';
import { MerchantCatalogRepository } from './merchant-catalog.repository.js';
import type { Viewer } from './merchants.repository.js';

export interface CatalogEntry {
  readonly id: number;
  readonly name: string;
}

/** More than `max` IDs in one call would not all be found. */
const MAX_CACHED = 100_000;
/** Ids that fit into the column, without a sign or leading zeros. */
const MERCHANT_ID = /^[1-9]\d{0,8}$/;

/** Imports the bundled merchants at startup, and finds merchants by name and id. */
@Injectable()
export class MerchantCatalogService implements OnApplicationBootstrap {
  /** Nearly every event has a merchant. */
  private readonly cache = new LRUCache<number, CatalogEntry>({ max: MAX_CACHED, ttl: MINUTE });

  constructor(private readonly repository: MerchantCatalogRepository) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.importCatalog();
  }

  /** Adds the merchants and names of the bundled catalog that are not in the database. */
  @Transactional()
  async importCatalog(): Promise<void> {
    await this.repository.saveMerchants(MERCHANT_CATALOG.map(({ id, name }) => ({ id, name })));
    await this.repository.saveNames(
      MERCHANT_CATALOG.flatMap(({ id, name, aliases }) =>
        [name, ...aliases].map((spelling) => ({ matchKey: matchKey(spelling), merchantId: id })),
      ),
    );
  }

  /** Returns the ids of merchants by name. Names that match no merchant are absent. */
  async idsByName(names: readonly string[]): Promise<Map<string, number>> {
    const keys = new Map(names.map((name) => [name, matchKeys(name)]));
    const ids = await this.repository.idsByMatchKey([...new Set([...keys.values()].flat())]);
    return new Map(
      [...keys].flatMap(([name, ofName]) => {
        const id = ids.get(ofName.find((key) => ids.has(key)) ?? '');
        return id === undefined ? [] : [[name, id] as const];
      }),
    );
  }

  /** Returns the merchant whose ID is in the path of a request, if there is one. */
  async byPathId(id: string): Promise<CatalogEntry | undefined> {
    return MERCHANT_ID.test(id) ? (await this.byIds([Number(id)])).get(Number(id)) : undefined;
  }

  /** Returns the merchant, unless the organization hides it in this environment. */
  async visibleTo(viewer: Viewer, id: number): Promise<CatalogEntry | undefined> {
    const merchant = await this.byPathId(String(id));
    return merchant && (await this.repository.isHidden(viewer, merchant.id)) ? undefined : merchant;
  }

  /** Returns merchants by id. Unknown ids are absent. A changed name shows after a minute at the latest. */
  async byIds(ids: readonly number[]): Promise<Map<number, CatalogEntry>> {
    const unknown = ids.filter((id) => !this.cache.has(id));
    const read = unknown.length === 0 ? [] : await this.repository.byIds(unknown);
    for (const { id, name } of read) this.cache.set(id, { id, name });
    const found = ids.map((id) => this.cache.get(id)).filter((merchant) => merchant !== undefined);
    return new Map(found.map((merchant) => [merchant.id, merchant]));
  }
}
