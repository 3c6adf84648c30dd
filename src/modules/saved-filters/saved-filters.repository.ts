import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { Transaction } from '../../infrastructure/database/index.js';
import { HoldsUserData, type ErasedUser, type UserDataHolder } from '../../infrastructure/erasure/index.js';
import { SavedFilter } from './saved-filter.entity.js';

const FILTERS_PER_ERASURE = 1_000;

@HoldsUserData('data')
@Injectable()
export class SavedFiltersRepository implements UserDataHolder {
  constructor(private readonly transaction: Transaction) {}

  async list(userId: string, list: string): Promise<SavedFilter[]> {
    return this.transaction.manager.find(SavedFilter, { where: { userId, list }, order: { name: 'ASC' } });
  }

  find(userId: string, id: string): Promise<SavedFilter | null> {
    return this.transaction.manager.findOneBy(SavedFilter, { userId, id });
  }

  /** Serializes additions until the transaction ends. @returns the saved filters, as `list()` does */
  async lockAndList(userId: string, list: string): Promise<SavedFilter[]> {
    await this.transaction.lock(`saved-filters ${userId} ${list}`);
    return this.list(userId, list);
  }

  /** Adds filters, or replaces those with this ID. */
  async save(filter: SavedFilter): Promise<void> {
    await this.transaction.manager.upsert(SavedFilter, filter, ['id']);
  }

  async remove(userId: string, ids: readonly string[]): Promise<void> {
    await this.transaction.manager.delete(SavedFilter, { userId, id: In([...ids]) });
  }

  /** Deletes the filters that look for the user, and those whose names contain the identifier as a word. */
  eraseBatch({ clientId, externalUserId }: ErasedUser): Promise<number> {
    return this.transaction.change(
      `DELETE FROM saved_filter WHERE id = ANY (ARRAY(
         SELECT id FROM saved_filter
          WHERE client_id = $1 AND (name ~* $3 OR EXISTS (
            SELECT FROM jsonb_each_text(filters) AS filter WHERE filter.value = $2))
          LIMIT $4))`,
      [clientId, externalUserId, asWord(externalUserId), FILTERS_PER_ERASURE],
    );
  }
}

/** Returns a regular expression of PostgreSQL. A short identifier such as `7` is no part of another word. */
function asWord(text: string): string {
  const escaped = text.replaceAll(/[!-/:-@[-`{-~]/g, String.raw`\$&`);
  return `(^|[^[:alnum:]])${escaped}($|[^[:alnum:]])`;
}
