import { Injectable } from '@nestjs/common';
import { Transaction } from '../../../infrastructure/database/index.js';
import type { AttributedClient } from '../../../infrastructure/http/index.js';
import type { StoredEvent } from '../events/webhook-events.repository.js';
import { IS_SUBSCRIBED } from '../queue/sql/lane.js';
import type { WebhookRecovery } from './recovery.entity.js';

/** A request to send failed events of an endpoint again. */
export type Recovery = Pick<
  WebhookRecovery,
  'id' | 'resendId' | 'since' | 'requestedAt' | 'finishedAt' | 'queued'
>;

export type ClaimedRecovery = Recovery &
  AttributedClient &
  Pick<WebhookRecovery, 'endpointId' | 'eventIds' | 'handled'>;

/** The part of a resend that is about one endpoint. */
export type ResendPart = Recovery &
  Pick<WebhookRecovery, 'endpointId' | 'selected' | 'handled' | 'received' | 'sending'>;

/** Events to be sent to an endpoint. */
export interface SelectedEvents {
  readonly endpointId: string;
  readonly eventIds: readonly string[];
}

/** What a recovery has done since it last said so. */
export type RecoveryProgress = Partial<Pick<WebhookRecovery, 'queued' | 'handled' | 'received' | 'sending'>>;

const COLUMNS = `recovery.id, resend_id AS "resendId", since, requested_at AS "requestedAt", finished_at AS "finishedAt", queued`;
/** A process that runs a recovery renews its lease with each page. */
const LEASE = '2 minutes';
const EVENTS_PER_PAGE = 5_000;

/** Recoveries of endpoints. An endpoint has one at a time. */
@Injectable()
export class RecoveriesRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Requests a recovery unless one is running, or a resend. @returns the one that is running then */
  async request(endpointId: string, since: Date, now: Date): Promise<Recovery | undefined> {
    // The update changes nothing. It locks the running one, which therefore cannot finish before it is returned.
    const [recovery] = await this.transaction.manager.query<Recovery[]>(
      `INSERT INTO webhook_recovery AS recovery (endpoint_id, since, requested_at)
       SELECT id, $2, $3 FROM webhook_endpoint WHERE id = $1 FOR KEY SHARE
           ON CONFLICT (endpoint_id) WHERE finished_at IS NULL DO UPDATE SET since = recovery.since
       RETURNING ${COLUMNS}`,
      [endpointId, since, now],
    );
    return recovery;
  }

  /**
   * Requests a recovery of the selected events of each endpoint, as the parts of one resend, except for endpoints with a running
   * recovery, and those that this resend already has.
   *
   * @returns how many recoveries were added
   */
  async requestSelected(
    resendId: string,
    selection: readonly SelectedEvents[],
    { since, now }: { readonly since: Date; readonly now: Date },
  ): Promise<number> {
    const added = await this.transaction.manager.query<object[]>(
      `INSERT INTO webhook_recovery (resend_id, endpoint_id, event_ids, selected, since, requested_at)
       SELECT $1, id, ids, cardinality(ids), $4, $5
         FROM unnest($2::uuid[], $3::text[]) selected (endpoint_id, event_ids)
         JOIN webhook_endpoint endpoint ON id = selected.endpoint_id
        CROSS JOIN LATERAL (SELECT string_to_array(selected.event_ids, ',')::uuid[] AS ids) list
        ORDER BY id
          FOR KEY SHARE OF endpoint
           ON CONFLICT DO NOTHING
       RETURNING 1`,
      [
        resendId,
        selection.map(({ endpointId }) => endpointId),
        selection.map(({ eventIds }) => eventIds.join(',')),
        since,
        now,
      ],
    );
    return added.length;
  }

  /** Returns the last recovery of an endpoint that is not a part of a resend. */
  async of(endpointId: string): Promise<Recovery | undefined> {
    const [recovery] = await this.transaction.manager.query<Recovery[]>(
      `SELECT ${COLUMNS} FROM webhook_recovery recovery WHERE endpoint_id = $1 AND resend_id IS NULL
        ORDER BY finished_at IS NULL DESC, requested_at DESC LIMIT 1`,
      [endpointId],
    );
    return recovery;
  }

  /** Returns the parts of a resend of a client, in the order of their endpoints. */
  partsOf(clientId: string, resendId: string): Promise<ResendPart[]> {
    return this.transaction.manager.query<ResendPart[]>(
      `SELECT ${COLUMNS}, endpoint_id AS "endpointId", selected, handled, received, sending
         FROM webhook_recovery recovery JOIN webhook_endpoint endpoint ON endpoint.id = endpoint_id
        WHERE resend_id = $1 AND client_id = $2
        ORDER BY endpoint.created_at, endpoint.id`,
      [resendId, clientId],
    );
  }

  /** Claims a recovery that no process runs. */
  async claim(): Promise<ClaimedRecovery | undefined> {
    const [recovery] = await this.transaction.manager.query<ClaimedRecovery[]>(
      `WITH recovery AS (
         UPDATE webhook_recovery SET lease_until = now() + interval '${LEASE}'
          WHERE id = (SELECT id FROM webhook_recovery
                       WHERE finished_at IS NULL AND lease_until < now()
                       ORDER BY requested_at LIMIT 1 FOR UPDATE SKIP LOCKED)
         RETURNING *)
       SELECT endpoint_id AS "endpointId", client_id AS "clientId", client.environment, event_ids AS "eventIds", handled,
              ${COLUMNS}
         FROM recovery
         JOIN webhook_endpoint endpoint ON endpoint.id = endpoint_id
         JOIN api_client client ON client.id = client_id`,
    );
    return recovery;
  }

  /** Renews the lease and counts what was done. */
  async progress(id: string, done: RecoveryProgress = {}): Promise<void> {
    const { queued = 0, handled = 0, received = 0, sending = 0 } = done;
    await this.transaction.manager.query(
      `UPDATE webhook_recovery
          SET queued = queued + $2, handled = handled + $3, received = received + $4, sending = sending + $5,
              lease_until = now() + interval '${LEASE}'
        WHERE id = $1`,
      [id, queued, handled, received, sending],
    );
  }

  /** Locks a recovery of selected events. @returns how many have been handled */
  async lockHandled(id: string): Promise<number | undefined> {
    const [recovery] = await this.transaction.manager.query<Pick<WebhookRecovery, 'handled'>[]>(
      'SELECT handled FROM webhook_recovery WHERE id = $1 AND finished_at IS NULL FOR UPDATE',
      [id],
    );
    return recovery?.handled;
  }

  async finish(id: string, now: Date): Promise<void> {
    await this.transaction.manager.query(
      'UPDATE webhook_recovery SET finished_at = $2, event_ids = NULL WHERE id = $1',
      [id, now],
    );
  }

  /**
   * Returns a page of the events that were not published to the endpoint because it was disabled, after the position,
   * oldest first; empty at the end. They include events that the endpoint has received.
   */
  async missedEvents(endpointId: string, after: StoredEvent): Promise<StoredEvent[]> {
    return this.transaction.manager.query<StoredEvent[]>(
      `SELECT event.id, event.created_at AS "createdAt"
         FROM webhook_endpoint endpoint
        CROSS JOIN LATERAL unnest(missed_periods) period
        CROSS JOIN LATERAL (
                SELECT id, created_at FROM webhook_event event
                 WHERE client_id = endpoint.client_id AND NOT is_test AND ${IS_SUBSCRIBED}
                   AND created_at >= GREATEST(lower(period), endpoint.created_at, $2) AND created_at < upper(period)
                   AND (created_at, id) > ($2, $3)
                 ORDER BY created_at, id
                 LIMIT ${EVENTS_PER_PAGE}) event
        WHERE endpoint.id = $1
        ORDER BY event.created_at, event.id
        LIMIT ${EVENTS_PER_PAGE}`,
      [endpointId, after.createdAt, after.id],
    );
  }
}
