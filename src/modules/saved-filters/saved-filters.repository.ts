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
/** Characters of a pseudonym in a name: enough that two names of a list stay different. */
const NAME_LENGTH = 14;

@HoldsUserData('data')
@Injectable()
export class SavedFiltersRepository implements UserDataHolder {
  constructor(private readonly transaction: Transaction) {}

  /** Deletes the filters that select the user. The names of others that mention the identifier as a word no longer do. */
  async eraseBatch({ clientId, externalUserId, pseudonym }: ErasedUser): Promise<number> {
    const deleted = await this.transaction.change(
      `DELETE FROM saved_filter WHERE id = ANY (ARRAY(
         SELECT id FROM saved_filter WHERE client_id = $1 AND filters ->> 'external_user_id' = $2 LIMIT $3))`,
      [clientId, externalUserId, FILTERS_PER_ERASURE],
    );
    const renamed = await this.transaction.change(
      `UPDATE saved_filter SET name = left(regexp_replace(name, $2, '\\1' || $3, 'g'), $4)
        WHERE id = ANY (ARRAY(SELECT id FROM saved_filter WHERE client_id = $1 AND name ~ $2 LIMIT $5))`,
      // The replacement is one word, in which no identifier is found again.
      [
        clientId,
        asWord(externalUserId),
        pseudonym.replace('_', '').slice(0, NAME_LENGTH),
        MAX_FILTER_NAME_LENGTH,
        FILTERS_PER_ERASURE,
      ],
    );
    return deleted + renamed;
  }
}
