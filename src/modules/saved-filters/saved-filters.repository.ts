import { Injectable } from '@nestjs/common';
import { Column, Entity } from 'typeorm';
import { Transaction, StoredRow } from '../../infrastructure/database/index.js';
import { HoldsUserData, type ErasedUser, type UserDataHolder } from '../../infrastructure/erasure/index.js';
import { MAX_FILTER_NAME_LENGTH } from '../../infrastructure/pages/index.js';

@Entity({ name: 'saved_filter' })
export class SavedFilter extends StoredRow {
  @Column({ name: 'user_id', type: 'uuid' })
  userId!: string;

  /** Whose data the list shows; null for a list of the organization. */
  @Column({ name: 'client_id', type: 'uuid', nullable: true })
  clientId!: string | null;

  /** The path of the list's page. */
  @Column({ type: 'varchar', length: 100 })
  list!: string;

  @Column({ type: 'varchar', length: MAX_FILTER_NAME_LENGTH })
  name!: string;

  /** Parameters of the page's address. They may name users. */
  @Column({ type: 'jsonb' })
  filters!: Readonly<Record<string, string>>;
}

const FILTERS_PER_ERASURE = 1_000;

@HoldsUserData('data')
@Injectable()
export class SavedFiltersRepository implements UserDataHolder {
  constructor(private readonly transaction: Transaction) {}

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
