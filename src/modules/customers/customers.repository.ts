import { Injectable } from '@nestjs/common';
import { Transaction } from '../../infrastructure/database/index.js';
import { HoldsUserData, type ErasedUser, type UserDataHolder } from '../../infrastructure/erasure/index.js';
import { DAY } from '../../infrastructure/time/index.js';
import type { UserActivity } from '../request-logs/index.js';
import { Customer } from './customer.entity.js';
// The import registers the retention rule of the table. Nothing else uses the entity.
import './customer-failure.entity.js';
import { partsOf } from './identifier-parts.js';

/** How many of the last active users a search reads without the index. A search for fewer letters than a part reads no others. */
const SEARCHED_WITHOUT_INDEX = 10_000;
/** Users that the index finds at most. */
const MAX_FOUND = 20_000;

const IS_AFTER = '($3::timestamptz IS NULL OR (last_seen_at, external_user_id) < ($3, $4))';
const RECENT = `(SELECT * FROM customer WHERE client_id = $1 AND ${IS_AFTER}
  ORDER BY last_seen_at DESC, external_user_id DESC LIMIT ${SEARCHED_WITHOUT_INDEX})`;
const INDEXED = `(SELECT * FROM (SELECT external_user_id FROM customer_search WHERE client_id = $1 AND parts @> $5
  LIMIT ${MAX_FOUND}) candidate JOIN customer USING (external_user_id) WHERE client_id = $1)`;

interface CustomerPosition {
  readonly lastSeenAt: Date;
  readonly externalUserId: string;
}

interface RequestedCustomers {
  readonly before?: CustomerPosition;
  readonly limit: number;
  readonly now: Date;
}

export interface ListedCustomer extends Pick<Customer, 'externalUserId' | 'lastSeenAt'> {
  /** Failed entries of the last 7 days. */
  readonly failures: number;
}

@HoldsUserData('records')
@Injectable()
export class CustomersRepository implements UserDataHolder {
  constructor(private readonly transaction: Transaction) {}

  /** Returns the users of a client whose identifiers contain the text, whatever its case; the last active ones first. */
  async newest(clientId: string, search: string, page: RequestedCustomers): Promise<ListedCustomer[]> {
    const parts = partsOf(clientId, search);
    const recent = search === '' ? 'customer' : RECENT;
    const found = await this.among(recent, { clientId, search, parts }, page);
    // Many identifiers have a common text, of which the index would read all. A rare one is not among the last active users.
    if (parts.length === 0 || found.length === page.limit) return found;
    return this.among(INDEXED, { clientId, search, parts }, page);
  }

  private async among(
    source: string,
    {
      clientId,
      search,
      parts,
    }: { readonly clientId: string; readonly search: string; readonly parts: number[] },
    { before, limit, now }: RequestedCustomers,
  ): Promise<ListedCustomer[]> {
    return this.transaction.manager.query<ListedCustomer[]>(
      `SELECT external_user_id AS "externalUserId", last_seen_at AS "lastSeenAt",
              (SELECT coalesce(sum(failures), 0)::int FROM customer_failure failure
                WHERE failure.client_id = $1 AND failure.external_user_id = found.external_user_id AND day > $6) AS failures
         FROM (SELECT * FROM ${source} customer
                WHERE client_id = $1 AND ($2 = '' OR strpos(lower(external_user_id), lower($2)) > 0)
                  AND ${IS_AFTER} AND $5::int[] IS NOT NULL
                ORDER BY last_seen_at DESC, external_user_id DESC LIMIT $7) found
        ORDER BY last_seen_at DESC, external_user_id DESC`,
      [
        clientId,
        search,
        before?.lastSeenAt ?? null,
        before?.externalUserId ?? '',
        parts,
        new Date(now.getTime() - 7 * DAY),
        limit,
      ],
    );
  }

  /** Notes that the work begins, unless it has begun. */
  async begin(now: Date): Promise<void> {
    await this.transaction.manager.query(
      'INSERT INTO customer_progress (seen_id, updated_at) VALUES (0, $1) ON CONFLICT DO NOTHING',
      [now],
    );
  }

  /** Returns the newest entry of the request log that is counted, which no other process changes until the transaction ends. */
  async lockProgress(): Promise<number> {
    const [row] = await this.transaction.manager.query<[{ seenId: string }]>(
      'SELECT seen_id AS "seenId" FROM customer_progress FOR UPDATE',
    );
    return Number(row.seenId);
  }

  async setProgress(seenId: number, now: Date): Promise<void> {
    await this.transaction.manager.query('UPDATE customer_progress SET seen_id = $1, updated_at = $2', [
      seenId,
      now,
    ]);
  }

  /** Returns when the job last counted all entries. */
  async updatedAt(): Promise<Date | null> {
    const [row] = await this.transaction.manager.query<{ updatedAt: Date }[]>(
      'SELECT updated_at AS "updatedAt" FROM customer_progress',
    );
    return row?.updatedAt ?? null;
  }

  /** Adds the activity of users. Must be called once for each entry of the log. Users of deleted clients are not added. */
  async add(activities: readonly UserActivity[]): Promise<void> {
    const columns = [
      activities.map(({ clientId }) => clientId),
      activities.map(({ externalUserId }) => externalUserId),
    ];
    const { manager } = this.transaction;
    const added = await manager.query<{ clientId: string; externalUserId: string; isNew: boolean }[]>(
      `INSERT INTO customer AS known (client_id, external_user_id, last_seen_at)
       SELECT client_id, external_user_id, max(last_seen_at)
         FROM unnest($1::uuid[], $2::text[], $3::timestamptz[]) AS seen (client_id, external_user_id, last_seen_at)
        WHERE EXISTS (SELECT FROM api_client client WHERE client.id = seen.client_id)
        GROUP BY 1, 2 ORDER BY 1, 2
       ON CONFLICT (client_id, external_user_id) DO UPDATE SET last_seen_at = excluded.last_seen_at
        WHERE known.last_seen_at < excluded.last_seen_at
       RETURNING client_id AS "clientId", external_user_id AS "externalUserId", xmax = 0 AS "isNew"`,
      [...columns, activities.map(({ createdAt }) => createdAt)],
    );
    const unknown = added.filter(({ isNew }) => isNew);
    await manager.query(
      `INSERT INTO customer_search (client_id, external_user_id, parts)
       SELECT (user_key ->> 0)::uuid, user_key ->> 1, ARRAY(SELECT jsonb_array_elements_text(user_key -> 2)::int)
         FROM jsonb_array_elements($1::jsonb) user_key ON CONFLICT DO NOTHING`,
      [
        JSON.stringify(
          unknown.map(({ clientId, externalUserId }) => [
            clientId,
            externalUserId,
            partsOf(clientId, externalUserId),
          ]),
        ),
      ],
    );
    await manager.query(
      `INSERT INTO customer_failure AS known (client_id, external_user_id, day, failures)
       SELECT * FROM unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::int[]) AS failed (client_id, external_user_id, day, failures)
        WHERE failures > 0
          AND EXISTS (SELECT FROM customer
                       WHERE customer.client_id = failed.client_id AND customer.external_user_id = failed.external_user_id)
        ORDER BY 1, 2, 3
       ON CONFLICT (client_id, external_user_id, day) DO UPDATE SET failures = known.failures + excluded.failures`,
      [...columns, activities.map(({ day }) => day), activities.map(({ failures }) => failures)],
    );
  }

  /** Deletes the user, and with the user the rows of the other tables. */
  async eraseBatch({ clientId, externalUserId }: ErasedUser): Promise<number> {
    const { affected } = await this.transaction.manager.delete(Customer, { clientId, externalUserId });
    return affected ?? 0;
  }
}
