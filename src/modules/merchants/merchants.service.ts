import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Transactional } from '../../infrastructure/database/index.js';
import { matchKey } from './match-key.js';
import { MERCHANT_CATALOGUE } from './merchant-catalogue.js';
import { MerchantsRepository } from './merchants.repository.js';

/** Merchants and their names. */
@Injectable()
export class MerchantsService implements OnApplicationBootstrap {
  constructor(private readonly repository: MerchantsRepository) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.importCatalogue();
  }

  /** Adds the merchants and names of the bundled catalog that are not in the database. */
  @Transactional()
  async importCatalogue(): Promise<void> {
    await this.repository.saveMerchants(MERCHANT_CATALOGUE.map(({ id, name }) => ({ id, name })));
    await this.repository.saveNames(
      MERCHANT_CATALOGUE.flatMap(({ id, name, aliases }) =>
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

  /** Returns merchants by id. Unknown ids are absent. */
  async byIds(ids: readonly number[]): Promise<Map<number, { readonly id: number; readonly name: string }>> {
    return new Map((await this.repository.byIds(ids)).map(({ id, name }) => [id, { id, name }]));
  }

  async knownIds(ids: readonly number[]): Promise<Set<number>> {
    return this.repository.knownIds(ids);
  }
}
