import { Injectable } from '@nestjs/common';
import {
  presentProcesses,
  Transaction,
  Transactional,
  writingTransactions,
} from '../../../infrastructure/database/index.js';
import { HAS_BODY } from '../events/webhook-events.repository.js';
import { secretVersionsOf } from '../queue/sql/lane.js';
import type { SignableEvent } from '../signing/event-signer.js';

/** Kind of the `Presence` of processes that have listeners. */
export const LISTENERS_LOCK = 1_279_873_876;

export interface StreamedEvent extends Pick<SignableEvent, 'event' | 'secretVersions'> {
  readonly position: number;
}

type Row = SignableEvent['event'] & Pick<SignableEvent, 'secretVersions'> & { readonly position: string };

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

  /** Returns the last position that an event got, whether or not its transaction has ended. */
  async lastPosition(): Promise<number> {
    // Unlike `SELECT last_value`, this requires no more than the privilege to publish.
    const [row] = await this.transaction.manager.query<[{ position: string | null }]>(
      "SELECT pg_sequence_last_value('webhook_event_position_seq') AS position",
    );
    return Number(row.position);
  }

  /** Returns the open transactions that have published, or are about to. */
  async publishers(): Promise<string[]> {
    const rows = await this.transaction.manager.query<{ id: string }[]>(writingTransactions('webhook_event'));
    return rows.map(({ id }) => id);
  }

  /**
   * Adds a listener that a process serves, unless the client has the maximum. Listeners of processes that have ended do not count and are deleted.
   *
   * @returns whether the listener was added
   */
  @Transactional()
  async addListener(id: string, clientId: string, process: number, max: number): Promise<boolean> {
    const { manager } = this.transaction;
    await this.transaction.lock(`webhook-listeners ${clientId}`);
    await manager.query(
      `DELETE FROM webhook_listener
        WHERE client_id = $1 AND process NOT IN (${presentProcesses(LISTENERS_LOCK)})`,
      [clientId],
    );
    const added = await manager.query<object[]>(
      `INSERT INTO webhook_listener (id, client_id, process)
       SELECT $1, $2, $3 WHERE (SELECT count(*) FROM webhook_listener WHERE client_id = $2) < $4
       RETURNING id`,
      [id, clientId, process, max],
    );
    return added.length > 0;
  }

  async deleteListener(id: string): Promise<void> {
    await this.transaction.manager.query('DELETE FROM webhook_listener WHERE id = $1', [id]);
  }
}
