import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Transaction } from '../../infrastructure/database/index.js';
import {
  asWord,
  HoldsUserData,
  type ErasedUser,
  type UserDataHolder,
} from '../../infrastructure/erasure/index.js';
import { MAX_FILTER_NAME_LENGTH } from '../../infrastructure/pages/index.js';

const FILTERS_PER_ERASURE = 1_000;

@HoldsUserData('data')
@Injectable()
export class SavedFiltersRepository implements UserDataHolder {
  constructor(private readonly transaction: Transaction) {}

  /** Deletes the filters that select the user. The names of others that mention the identifier as a word no longer do. */
  async eraseBatch({ clientId, externalUserId }: ErasedUser): Promise<number> {
    const word = asWord(externalUserId);
    const deleted = await this.transaction.change(
      `DELETE FROM saved_filter WHERE id = ANY (ARRAY(
         SELECT id FROM saved_filter
          WHERE client_id = $1 AND (filters ->> 'external_user_id' = $2 OR filters ->> 'search' ~* $3) LIMIT $4))`,
      [clientId, externalUserId, word, FILTERS_PER_ERASURE],
    );
    const renamed = await this.transaction.change(
      `UPDATE saved_filter
          SET name = CASE WHEN length(renamed.name) <= $4 THEN renamed.name ELSE $3 || ' ' || left(saved_filter.id::text, 8) END
         FROM (SELECT id, regexp_replace(name, $2, '\\1' || $3::text, 'g') AS name FROM saved_filter
                WHERE client_id = $1 AND name ~ $2 LIMIT $5) renamed
        WHERE saved_filter.id = renamed.id`,
      // The replacement is one word, in which no identifier is found again. It is new, because the names of a list must differ.
      [
        clientId,
        word,
        `erased${randomBytes(4).toString('hex')}`,
        MAX_FILTER_NAME_LENGTH,
        FILTERS_PER_ERASURE,
      ],
    );
    return deleted + renamed;
  }
}
