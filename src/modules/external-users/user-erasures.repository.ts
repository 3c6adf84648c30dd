import { Injectable } from '@nestjs/common';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { hasCome, Transaction } from '../../infrastructure/database/index.js';
import { asWord, type UserKey } from '../../infrastructure/erasure/index.js';
import { CLOCK_TOLERANCE, HOUR, SECOND } from '../../infrastructure/time/index.js';
import { UserErasure } from './user-erasure.entity.js';

/** Milliseconds: more than an erasure waits for entries that are being written, and than its lease. */
const LONGEST_POSTPONEMENT = HOUR;
const IS_DUE = hasCome('due_at', LONGEST_POSTPONEMENT, '$1');
/** The time of a request that was stored while a clock was ahead is brought forward: everything is searched until a minute after it. */
const REQUESTED_AT = `LEAST(requested_at, GREATEST(now(), $1::timestamptz) + interval '${CLOCK_TOLERANCE / SECOND} seconds')`;

/**
 * Returns SQL for the erasure of a client that is due first. Only one index has this order: with a condition that the client is equal,
 * PostgreSQL may read the erasures of all clients in the order of their times.
 */
function firstDueOf(clientId: string): string {
  return `SELECT id FROM user_erasure own
           WHERE own.client_id BETWEEN ${clientId} AND ${clientId} AND finished_at IS NULL AND ${IS_DUE}
           ORDER BY own.client_id, due_at LIMIT 1`;
}

/** Identifies a user, whom the table names by a pseudonym. */
type PseudonymousUser = Pick<UserErasure, 'clientId' | 'pseudonym'>;

export type NewErasure = Pick<
  UserErasure,
  'id' | 'clientId' | 'pseudonym' | 'externalUserIdSealed' | 'requestedAt'
>;

/** An erasure that the calling process works on. */
export interface ClaimedErasure extends Pick<UserErasure, 'id' | 'clientId' | 'pseudonym' | 'requestedAt'> {
  readonly externalUserIdSealed: Buffer;
  readonly environment: PlatformEnvironment;
  readonly organizationId: string;
}

/** ANALYZE waits for a VACUUM of the table, and for an index that is being created, which can take hours. */
const LOCK_TIMEOUT = '8s';

/** Erasures for which an ANALYZE counts. */
const ERASURES_PER_ANALYZE = 1_000;

/** The column that holds the identifier of a user, in every table that names users. */
const IDENTIFIER = 'external_user_id';
/** A regular expression of the other columns that clients can fill with text in which they name users. */
const TEXTS =
  '^(request_log.*\\.(response_body|error_message|user_agent)|webhook_event.*\\.body|webhook_event_key\\.key|session\\.(card_id|metadata)|saved_filter\\.(name|filters))$';

/** A column whose statistics contain an identifier. */
export interface ColumnWithStatistics {
  readonly table: string;
  readonly column: string;
  readonly hasEnvironment: boolean;
}

@Injectable()
export class UserErasuresRepository {
  constructor(private readonly transaction: Transaction) {}

  /**
   * Adds an erasure. One of the same user that is still running has to start over; a finished one is replaced. A process that works on
   * the running one keeps it until its lease ends.
   *
   * @returns the ID of the erasure, which belongs to the user
   */
  async add({ id, clientId, pseudonym, externalUserIdSealed, requestedAt }: NewErasure): Promise<string> {
    const [row] = await this.transaction.manager.query<[{ id: string }]>(
      `INSERT INTO user_erasure AS erasure (id, client_id, pseudonym, external_user_id_sealed, requested_at, due_at)
       VALUES ($1, $2, $3, $4, $5, $5)
       ON CONFLICT (client_id, pseudonym) DO UPDATE
          SET id = CASE WHEN erasure.finished_at IS NULL THEN erasure.id ELSE excluded.id END,
              external_user_id_sealed = CASE WHEN erasure.finished_at IS NULL THEN erasure.external_user_id_sealed
                                             ELSE excluded.external_user_id_sealed END,
              due_at = CASE WHEN erasure.finished_at IS NULL THEN erasure.due_at ELSE excluded.due_at END,
              erased = CASE WHEN erasure.finished_at IS NULL THEN erasure.erased ELSE 0 END,
              requested_at = GREATEST(erasure.requested_at + interval '1 millisecond', excluded.requested_at),
              finished_at = NULL
       RETURNING id`,
      [id, clientId, pseudonym, externalUserIdSealed, requestedAt],
    );
    return row.id;
  }

  async findAll(users: readonly PseudonymousUser[]): Promise<UserErasure[]> {
    return this.transaction.manager.query<UserErasure[]>(
      `SELECT client_id AS "clientId", pseudonym, finished_at AS "finishedAt" FROM user_erasure
        WHERE (client_id, pseudonym) IN (SELECT * FROM unnest($1::uuid[], $2::text[]))`,
      [users.map(({ clientId }) => clientId), users.map(({ pseudonym }) => pseudonym)],
    );
  }

  /**
   * Returns an erasure that is due, of the client whose last turn was the longest time ago, and keeps it from other processes until
   * `dueAt`. Reads a few erasures of each client, however many wait: this is done for each of them. A turn that was stored while a
   * clock was ahead does not count.
   */
  async claim(now: Date, dueAt: Date): Promise<ClaimedErasure | undefined> {
    const [claimed] = await this.transaction.changedRows<ClaimedErasure>(
      `WITH RECURSIVE waiting (client_id) AS (
         (SELECT client_id FROM user_erasure WHERE finished_at IS NULL ORDER BY client_id, due_at LIMIT 1)
         UNION ALL
         SELECT (SELECT next.client_id FROM user_erasure next
                  WHERE finished_at IS NULL AND next.client_id > waiting.client_id ORDER BY next.client_id, due_at LIMIT 1)
           FROM waiting WHERE client_id IS NOT NULL),
       turn AS (
         SELECT waiting.client_id FROM waiting CROSS JOIN LATERAL (${firstDueOf('waiting.client_id')}) due
          ORDER BY (SELECT max(claimed_at) FROM user_erasure served
                     WHERE served.client_id = waiting.client_id AND claimed_at <= $1) NULLS FIRST
          LIMIT 1)
       UPDATE user_erasure SET due_at = $2, claimed_at = $1, requested_at = ${REQUESTED_AT}
         FROM api_client client
        WHERE client.id = client_id AND user_erasure.id = (
          SELECT due.id FROM turn CROSS JOIN LATERAL (${firstDueOf('turn.client_id')} FOR UPDATE SKIP LOCKED) due)
        RETURNING user_erasure.id, client_id AS "clientId", pseudonym, requested_at AS "requestedAt",
                  external_user_id_sealed AS "externalUserIdSealed", environment, organization_id AS "organizationId"`,
      [now, dueAt],
    );
    return claimed;
  }

  /** Counts erased rows, which may be in the statistics. */
  async progress(id: string, erased: number): Promise<void> {
    await this.transaction.manager.query(
      `UPDATE user_erasure SET erased = erased + $2, renewed_columns = '{}' WHERE id = $1`,
      [id, erased],
    );
  }

  /**
   * Returns a column whose statistics of the planner contain the identifier, and are not renewed yet. Statistics keep the most common
   * values and a sample of all others, also of rows that no longer exist. Statistics without identifiers are no alternative: estimates
   * for users with many rows would be wrong.
   *
   * A partitioned table comes before its partitions, because ANALYZE renews those, too.
   */
  async columnWithStatisticsOf(
    erasureId: string,
    externalUserId: string,
  ): Promise<ColumnWithStatistics | undefined> {
    const json = JSON.stringify(externalUserId);
    const [found] = await this.transaction.manager.query<ColumnWithStatistics[]>(
      `SELECT tablename AS "table", attname AS "column",
              EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass(quote_ident(tablename)) AND attname = 'environment')
                AS "hasEnvironment"
         FROM pg_stats
        WHERE schemaname = current_schema() AND (attname = $2 OR tablename || '.' || attname ~ $3)
          AND tablename || '.' || attname <> ALL ((SELECT renewed_columns FROM user_erasure WHERE id = $1)::text[])
          AND EXISTS (
            SELECT FROM unnest(most_common_vals::text::text[] || histogram_bounds::text::text[]) AS kept
             WHERE CASE WHEN attname = $2 THEN kept = $4 ELSE kept ~ $5 OR position($6 IN kept) > 0 END)
        ORDER BY inherited DESC, 1, 2 LIMIT 1`,
      [
        erasureId,
        IDENTIFIER,
        TEXTS,
        externalUserId,
        `${asWord(externalUserId)}|${asWord(json.slice(1, -1))}`,
        // Statistics show bytes as hexadecimal digits.
        Buffer.from(json).toString('hex'),
      ],
    );
    return found;
  }

  /**
   * Renews the statistics of a column, unless they contain the identifier because another client has a user of this name. An ANALYZE
   * counts for the partitions of the table, and for all erasures that erase nothing meanwhile: where words are kept, it does not help
   * an identifier that is a common word, and would be repeated for each of them. Requires a transaction.
   *
   * @returns false if another process is renewing statistics of the table
   */
  async renewStatistics(
    erasureId: string,
    { clientId, externalUserId }: UserKey,
    { table, column, hasEnvironment }: ColumnWithStatistics,
  ): Promise<boolean> {
    if (!(await this.transaction.tryLock(`statistics of ${table}`))) return false;
    const { manager } = this.transaction;
    // A large table takes longer than a request may. The identifier is found in an index, whatever the old statistics say.
    await manager.query(
      `SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'; SET LOCAL enable_seqscan = off`,
    );
    const others =
      column === IDENTIFIER
        ? await manager.query<object[]>(
            `SELECT FROM ${table} WHERE client_id = ANY (ARRAY(SELECT id FROM api_client WHERE id <> $1)) AND external_user_id = $2
               ${hasEnvironment ? "AND environment IN ('development', 'production')" : ''} LIMIT 1`,
            [clientId, externalUserId],
          )
        : [];
    const isRenewed = others.length === 0;
    const waiting = await manager.query<Pick<UserErasure, 'id' | 'erased'>[]>(
      `SELECT id, erased FROM user_erasure WHERE id = $1 OR $2 AND finished_at IS NULL
        ORDER BY id = $1 DESC, due_at LIMIT ${ERASURES_PER_ANALYZE}`,
      [erasureId, isRenewed],
    );
    if (isRenewed) await manager.query('SELECT forget_statistics($1, $2)', [table, column]);
    await manager.query(
      `UPDATE user_erasure SET renewed_columns = renewed_columns || ARRAY(
              SELECT relname || '.' || $4 FROM pg_class
               WHERE oid = to_regclass(quote_ident($3))
                  OR $5 AND oid IN (SELECT relid FROM pg_partition_tree(to_regclass(quote_ident($3)))))
        WHERE id = ANY (ARRAY(
          SELECT id FROM user_erasure JOIN unnest($1::uuid[], $2::bigint[]) AS waiting (id, erased) USING (id, erased)
           WHERE finished_at IS NULL ORDER BY id FOR UPDATE OF user_erasure))`,
      [waiting.map(({ id }) => id), waiting.map(({ erased }) => erased), table, column, isRenewed],
    );
    return true;
  }

  async postpone(id: string, dueAt: Date): Promise<void> {
    await this.transaction.manager.update(UserErasure, { id }, { dueAt });
  }
}
