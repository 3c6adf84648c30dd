import { Injectable } from '@nestjs/common';
import { hasCome, Transaction } from '../../../infrastructure/database/index.js';
import type { AttributedClient } from '../../../infrastructure/http/index.js';
import { MINUTE, SECOND } from '../../../infrastructure/time/index.js';
import type { EventPosition } from '../webhook-event.js';
import { IS_ENABLED, IS_SUBSCRIBED } from '../queue/sql/statement-parts.js';
import { Resend } from './resend.entity.js';

/** How many of the selected events are handled, or how far the missed events have been read. */
export type ResendPlace = Pick<Resend, 'handled' | 'position'>;

export type ResendProgress = Omit<Resend, 'eventIds' | 'leaseUntil' | 'position'>;

export type SelectedResend = ResendProgress & Pick<Resend, 'eventIds'>;

/** A resend of which this process sends the next page: of the selected events, if there are any. */
export type ClaimedResend = ResendProgress & AttributedClient & Pick<Resend, 'eventIds' | 'position'>;

/** Events to be sent to an endpoint. */
interface SelectedEvents {
  readonly endpointId: string;
  /** Null for all that it has not received since the time. */
  readonly eventIds: readonly string[] | null;
}

interface MissedEvents {
  readonly eventIds: readonly string[];
  /** Undefined at the end. */
  readonly last: EventPosition | undefined;
}

const COLUMNS = `recovery.id, resend_id AS "batchId", endpoint_id AS "endpointId", since, requested_at AS "requestedAt",
  finished_at AS "finishedAt", selected, handled, queued, received, sending`;
/** A page takes far less. */
const LEASE = '2 minutes';
/** Milliseconds. */
const STATEMENT_TIMEOUT = 2 * SECOND;
const EVENTS_PER_PAGE = 1_000;

/** Resends of events to endpoints. An endpoint has one at a time. */
@Injectable()
export class ResendsRepository {
  constructor(private readonly transaction: Transaction) {}

  /**
   * Requests a resend for each endpoint that has none running.
   *
   * @param options.batchId if a user selected the events
   * @returns the new ones, and those that are running already
   */
  request(
    selection: readonly SelectedEvents[],
    { batchId, since, now }: { readonly batchId?: string; readonly since: Date; readonly now: Date },
  ): Promise<(ResendProgress & { readonly isNew: boolean })[]> {
    // The lock is that of a deletion, which waits for the audit log, too. The update changes nothing. It locks a running one, which therefore cannot finish before it is returned. Only a row that was
    // updated has an xmax.
    return this.transaction.manager.query(
      `INSERT INTO webhook_recovery AS recovery (resend_id, endpoint_id, event_ids, selected, since, requested_at)
       SELECT $1, id, ids, COALESCE(cardinality(ids), 0), $4, $5
         FROM unnest($2::uuid[], $3::text[]) selected (endpoint_id, event_ids)
         JOIN webhook_endpoint endpoint ON id = selected.endpoint_id
        CROSS JOIN LATERAL (SELECT string_to_array(selected.event_ids, ',')::uuid[] AS ids) list
        ORDER BY id
          FOR NO KEY UPDATE OF endpoint
           ON CONFLICT (endpoint_id) WHERE finished_at IS NULL DO UPDATE SET since = recovery.since
       RETURNING ${COLUMNS}, recovery.xmax = 0 AS "isNew"`,
      [
        batchId,
        selection.map(({ endpointId }) => endpointId),
        selection.map(({ eventIds }) => eventIds?.join(',')),
        since,
        now,
      ],
    );
  }

  /** Returns the last resend of an endpoint for which no events were selected. */
  async lastRecovery(endpointId: string): Promise<ResendProgress | undefined> {
    const [recovery] = await this.transaction.manager.query<ResendProgress[]>(
      `SELECT ${COLUMNS} FROM webhook_recovery recovery WHERE endpoint_id = $1 AND resend_id IS NULL
        ORDER BY finished_at IS NULL DESC, requested_at DESC LIMIT 1`,
      [endpointId],
    );
    return recovery;
  }

  /** Returns the resends of a batch of a client with their events, in the order of their endpoints. */
  ofBatch(clientId: string, batchId: string): Promise<SelectedResend[]> {
    return this.transaction.manager.query<SelectedResend[]>(
      `SELECT ${COLUMNS}, event_ids AS "eventIds" FROM webhook_recovery recovery JOIN webhook_endpoint endpoint ON endpoint.id = endpoint_id
        WHERE resend_id = $1 AND client_id = $2
        ORDER BY endpoint.created_at, endpoint.id`,
      [batchId, clientId],
    );
  }

  /** Claims the next page of a resend that no process runs, of another client than these. */
  async claim(servedClientIds: readonly string[]): Promise<ClaimedResend | undefined> {
    const [resend] = await this.transaction.manager.query<ClaimedResend[]>(
      `WITH recovery AS (
         UPDATE webhook_recovery SET lease_until = now() + interval '${LEASE}'
          WHERE id = (SELECT waiting.id FROM webhook_recovery waiting JOIN webhook_endpoint its_endpoint ON its_endpoint.id = waiting.endpoint_id
                       WHERE finished_at IS NULL AND ${hasCome('lease_until', 2 * MINUTE)} AND its_endpoint.client_id <> ALL ($1)
                       ORDER BY requested_at LIMIT 1 FOR UPDATE OF waiting SKIP LOCKED)
         RETURNING *)
       SELECT client_id AS "clientId", client.environment, position,
              event_ids[handled + 1 : handled + ${EVENTS_PER_PAGE}] AS "eventIds", ${COLUMNS}
         FROM recovery
         JOIN webhook_endpoint endpoint ON endpoint.id = endpoint_id
         JOIN api_client client ON client.id = client_id`,
      [servedClientIds],
    );
    return resend;
  }

  /** Counts what was done, stores the place from which the resend continues, and ends the lease. */
  async progress(
    id: string,
    { handled, position }: ResendPlace,
    { queued, received, sending }: Pick<ResendProgress, 'queued' | 'received' | 'sending'>,
  ): Promise<void> {
    await this.transaction.manager.query(
      `UPDATE webhook_recovery
          SET handled = $2, position = $3, queued = queued + $4, received = received + $5, sending = sending + $6,
              lease_until = '-infinity'
        WHERE id = $1`,
      [id, handled, position, queued, received, sending],
    );
  }

  /** Locks a running resend, and limits how long each statement of the transaction may keep others waiting. @returns its place */
  async lockPlace(id: string): Promise<ResendPlace | undefined> {
    await this.transaction.manager.query(`SET LOCAL statement_timeout = ${STATEMENT_TIMEOUT}`);
    const [place] = await this.transaction.manager.query<ResendPlace[]>(
      'SELECT handled, position FROM webhook_recovery WHERE id = $1 AND finished_at IS NULL FOR UPDATE',
      [id],
    );
    return place;
  }

  async finish(id: string, now: Date): Promise<void> {
    await this.transaction.manager.query(
      `UPDATE webhook_recovery SET finished_at = $2, event_ids = CASE WHEN resend_id IS NOT NULL THEN event_ids END
        WHERE id = $1 AND finished_at IS NULL`,
      [id, now],
    );
  }

  /**
   * Reads a page of the events of the time in which the endpoint was disabled, after the position, oldest first, whether or not the
   * endpoint is subscribed to them: no index knows. Otherwise, the events before the first that matches could take too long to read.
   *
   * @returns those that were not published to the endpoint, which include events that it has received, and the last one that was read
   */
  async missedEvents(endpointId: string, after: EventPosition): Promise<MissedEvents> {
    const read = await this.transaction.manager.query<(EventPosition & { readonly isMissed: boolean })[]>(
      `SELECT event.id, event.created_at AS "createdAt", NOT event.is_test AND ${IS_SUBSCRIBED} AS "isMissed"
         FROM webhook_endpoint endpoint
        CROSS JOIN LATERAL unnest(missed_periods) period
        CROSS JOIN LATERAL (
                SELECT id, created_at, event, is_test FROM webhook_event
                 WHERE client_id = endpoint.client_id
                   AND created_at >= GREATEST(lower(period), endpoint.created_at, $2) AND created_at < upper(period)
                   AND (created_at, id) > ($2, $3)
                 ORDER BY created_at, id
                 LIMIT ${EVENTS_PER_PAGE}) event
        WHERE endpoint.id = $1 AND ${IS_ENABLED}
        ORDER BY event.created_at, event.id
        LIMIT ${EVENTS_PER_PAGE}`,
      [endpointId, after.createdAt, after.id],
    );
    return { eventIds: read.filter(({ isMissed }) => isMissed).map(({ id }) => id), last: read.at(-1) };
  }
}
