import { Injectable } from '@nestjs/common';
import {
  prepared,
  presentProcesses,
  Transaction,
  Transactional,
  writingTransactions,
} from '../../../infrastructure/database/index.js';
import type { ApiError } from '../../../infrastructure/errors/index.js';
import { HAS_BODY } from '../webhook-event.js';
import { secretVersionsOf } from '../queue/sql/statement-parts.js';
import type { SignableEvent } from '../signing/event-signer.js';

/** Kind of the `Presence` of processes that have listeners. */
export const LISTENERS_LOCK = 1_279_873_876;

/** How many listeners of a kind a client can have at the same time, over all processes. */
export interface ListenerLimit {
  readonly max: number;
  /** Whether the listeners are waiting requests to the feed instead of streams. */
  readonly readsFeed: boolean;
  refusal(): ApiError;
}

interface NewListener {
  readonly id: string;
  readonly clientId: string;
  /** Identifies the process that serves the listener. */
  readonly process: number;
}

export interface StreamedEvent extends Pick<SignableEvent, 'event' | 'secretVersions'> {
  readonly position: number;
}

type Row = SignableEvent['event'] & Pick<SignableEvent, 'secretVersions'> & { readonly position: string };

export interface Publishing {
  /** The last position that an event got, whether or not its transaction has ended. */
  readonly last: number;
  readonly publishers: ReadonlySet<string>;
}

/** An open transaction that has published, or is about to. */
interface Publisher {
  /** The process with its user and application, or the prepared transaction. */
  readonly name: string;
  /** When the transaction began; null if it is one of another role. */
  readonly since: Date | null;
}

/**
 * A transaction that is about to publish takes its lock before it gets a position. So the locks must be read after the position: the
 * subquery, which depends on the position, cannot run earlier. Unlike `SELECT last_value`, the function requires no more than the
 * privilege to publish.
 */
const PUBLISHING = prepared(
  `WITH sequence AS MATERIALIZED (SELECT pg_sequence_last_value('webhook_event_position_seq') AS last)
   SELECT last, ARRAY(${writingTransactions('webhook_event')} AND coalesce(last, 0) >= 0) AS publishers FROM sequence`,
);

/** Matches `webhook_event_stream_index`. */
const IS_STREAMED = "environment = 'development' AND NOT is_test";

/**
 * Published events of development clients, in the order of their positions, which `EventHorizon` explains, and the listeners
 * of all processes: they count toward the limit of their client, and publishing notifies only clients that have one.
 */
@Injectable()
export class WebhookStreamRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Returns the events of a client after one position up to another, oldest first. */
  async between(clientId: string, after: number, last: number, limit: number): Promise<StreamedEvent[]> {
    const rows = await this.transaction.manager.query<Row[]>(
      `SELECT id, event AS name, session_id AS "sessionId", body, position,
              ${secretVersionsOf('event.client_id')} AS "secretVersions"
         FROM webhook_event event
        WHERE client_id = $1 AND ${IS_STREAMED} AND position > $2 AND position <= $3 AND ${HAS_BODY}
        ORDER BY position
        LIMIT $4`,
      [clientId, after, last, limit],
    );
    return rows.map(({ position, secretVersions, ...event }) => ({
      event,
      secretVersions,
      position: Number(position),
    }));
  }

  /** Returns undefined if the client has no such event. */
  async positionOf(clientId: string, eventId: string): Promise<number | undefined> {
    const [row] = await this.transaction.manager.query<{ position: string }[]>(
      `SELECT position FROM webhook_event
        WHERE id = $1 AND client_id = $2 AND ${IS_STREAMED} AND position IS NOT NULL`,
      [eventId, clientId],
    );
    return row && Number(row.position);
  }

  /** Returns the last position that an event got, and then the open transactions that have published, or are about to. */
  async publishing(): Promise<Publishing> {
    const [row] =
      await this.transaction.manager.query<[{ last: string | null; publishers: string[] }]>(PUBLISHING);
    return { last: Number(row.last), publishers: new Set(row.publishers) };
  }

  /** Describes transactions to operators, without those that have ended. */
  describe(transactions: ReadonlySet<string>): Promise<Publisher[]> {
    // A prepared transaction has no process, but is named by its ID, on which it has a lock.
    return this.transaction.manager.query<Publisher[]>(
      `SELECT DISTINCT CASE WHEN gid IS NULL THEN format('process %s of %s (%s)', pid, usename, application_name)
                            ELSE 'prepared transaction ' || quote_literal(gid) END AS name,
              coalesce(xact_start, prepared) AS since
         FROM pg_locks lock
         LEFT JOIN pg_stat_activity USING (pid)
         LEFT JOIN pg_prepared_xacts ON pid IS NULL AND transaction = transactionid
        WHERE virtualtransaction = ANY ($1) AND (usename IS NOT NULL OR gid IS NOT NULL)`,
      [[...transactions]],
    );
  }

  /**
   * Adds a listener that a process serves, unless the client has the maximum. Listeners that nobody serves do not count and are
   * deleted: those of processes that have ended, and those of this process that could not be deleted when they ended.
   *
   * @param served the IDs of the client's listeners that the process serves
   * @returns whether the listener was added
   */
  @Transactional()
  async addListener(
    { id, clientId, process }: NewListener,
    served: ReadonlySet<string>,
    { max, readsFeed }: Pick<ListenerLimit, 'max' | 'readsFeed'>,
  ): Promise<boolean> {
    const { manager } = this.transaction;
    await this.transaction.lock(`webhook-listeners ${clientId}`);
    await manager.query(
      `DELETE FROM webhook_listener
        WHERE client_id = $1
          AND (process NOT IN (${presentProcesses(LISTENERS_LOCK)}) OR (process = $2 AND id <> ALL ($3)))`,
      [clientId, process, [...served]],
    );
    const added = await manager.query<object[]>(
      `INSERT INTO webhook_listener (id, client_id, process, reads_feed)
       SELECT $1, $2, $3, $5
        WHERE (SELECT count(*) FROM webhook_listener WHERE client_id = $2 AND reads_feed = $5) < $4
       RETURNING id`,
      [id, clientId, process, max, readsFeed],
    );
    return added.length > 0;
  }

  async deleteListener(id: string): Promise<void> {
    await this.transaction.manager.query('DELETE FROM webhook_listener WHERE id = $1', [id]);
  }
}
