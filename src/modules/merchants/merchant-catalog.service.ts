import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Transactional } from '../../infrastructure/database/index.js';
import { matchKey } from './match-key.js';
import { MERCHANT_CATALOG } from './merchant-catalog.js';
import { MerchantCatalogRepository } from './merchant-catalog.repository.js';

export interface CatalogEntry {
  readonly id: number;
  readonly name: string;
}

/** Ids that fit into the column, without a sign or leading zeros. */
const MERCHANT_ID = /^[1-9]\d{0,8}$/;

/** Imports the bundled merchants at startup, and finds merchants by name and id. */
@Injectable()
export class MerchantCatalogService implements OnApplicationBootstrap {
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
    const keys = new Map(names.map((name) => [name, matchKey(name)]));
    const ids = await this.repository.idsByMatchKey([...new Set(keys.values())]);
    return new Map(
      names.flatMap((name) => {
        const id = ids.get(keys.get(name) ?? '');
        return id === undefined ? [] : [[name, id] as const];
      }),
    );
  }

  /** Returns the merchant whose ID is in the path of a request, if there is one. */
  async byPathId(id: string): Promise<CatalogEntry | undefined> {
    return MERCHANT_ID.test(id) ? (await this.byIds([Number(id)])).get(Number(id)) : undefined;
  }

  /** Returns merchants by id. Unknown ids are absent. */
  async byIds(ids: readonly number[]): Promise<Map<number, CatalogEntry>> {
    if (ids.length === 0) return new Map();
    return new Map((await this.repository.byIds(ids)).map(({ id, name }) => [id, { id, name }]));
  }
}
