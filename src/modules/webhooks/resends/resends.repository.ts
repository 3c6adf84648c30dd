import { Injectable } from '@nestjs/common';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { Transaction, DeleteAfter } from '../../../infrastructure/database/index.js';
import type { AttributedClient } from '../../../infrastructure/http/index.js';
import { DAY } from '../../../infrastructure/time/index.js';
import type { EventPosition } from '../events/webhook-events.repository.js';
import { IS_SUBSCRIBED } from '../queue/sql/lane.js';

/** A request to send events to an endpoint again: all that it has not received since a time, or selected ones. */
@Entity({ name: 'webhook_recovery' })
class Resend {
  @PrimaryGeneratedColumn('uuid', {})
  id!: string;

  @Column({ name: 'endpoint_id', type: 'uuid' })
  endpointId!: string;

  /** Shared by the resends that a user started together, one per endpoint; null for all events since the time. */
  @Column({ name: 'resend_id', type: 'uuid', nullable: true })
  batchId!: string | null;

  @Column({ type: 'timestamptz', precision: 3 })
  since!: Date;

  @Column({ name: 'requested_at', type: 'timestamptz', precision: 3 })
  requestedAt!: Date;

  @DeleteAfter(90 * DAY)
  @Column({ name: 'finished_at', type: 'timestamptz', precision: 3, nullable: true })
  finishedAt!: Date | null;

  /** The events, until all are handled; null until they are found, if none were selected. */
  @Column({ name: 'event_ids', type: 'uuid', array: true, nullable: true })
  eventIds!: string[] | null;

  @Column({ type: 'integer', default: 0 })
  selected!: number;

  /** How many of the events have been handled. A process that takes over continues there. */
  @Column({ type: 'integer', default: 0 })
  handled!: number;

  /** Deliveries queued so far. */
  @Column({ type: 'integer', default: 0 })
  queued!: number;

  /** Events that were not queued, because the endpoint has received them since. */
  @Column({ type: 'integer', default: 0 })
  received!: number;

  /** Selected events that were not queued, because they were being sent already. */
  @Column({ type: 'integer', default: 0 })
  sending!: number;

  /** A process that sends the events again renews its lease. */
  @Column({ name: 'lease_until', type: 'timestamptz', default: '-infinity' })
  leaseUntil!: Date;
}

export type ResendProgress = Omit<Resend, 'eventIds' | 'leaseUntil'>;

export type ClaimedResend = ResendProgress & AttributedClient & Pick<Resend, 'eventIds'>;

/** Events to be sent to an endpoint. */
interface SelectedEvents {
  readonly endpointId: string;
  /** Null for all that it has not received since the time. */
  readonly eventIds: readonly string[] | null;
}

const COLUMNS = `recovery.id, resend_id AS "batchId", endpoint_id AS "endpointId", since, requested_at AS "requestedAt",
  finished_at AS "finishedAt", selected, handled, queued, received, sending`;
/** A process that runs a resend renews its lease with each page. */
const LEASE = '2 minutes';
const EVENTS_PER_PAGE = 5_000;

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
    // The update changes nothing. It locks a running one, which therefore cannot finish before it is returned. Only a row that was
    // updated has an xmax.
    return this.transaction.manager.query(
      `INSERT INTO webhook_recovery AS recovery (resend_id, endpoint_id, event_ids, selected, since, requested_at)
       SELECT $1, id, ids, COALESCE(cardinality(ids), 0), $4, $5
         FROM unnest($2::uuid[], $3::text[]) selected (endpoint_id, event_ids)
         JOIN webhook_endpoint endpoint ON id = selected.endpoint_id
        CROSS JOIN LATERAL (SELECT string_to_array(selected.event_ids, ',')::uuid[] AS ids) list
        ORDER BY id
          FOR KEY SHARE OF endpoint
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

  /** Returns the resends of a batch of a client, in the order of their endpoints. */
  ofBatch(clientId: string, batchId: string): Promise<ResendProgress[]> {
    return this.transaction.manager.query<ResendProgress[]>(
      `SELECT ${COLUMNS} FROM webhook_recovery recovery JOIN webhook_endpoint endpoint ON endpoint.id = endpoint_id
        WHERE resend_id = $1 AND client_id = $2
        ORDER BY endpoint.created_at, endpoint.id`,
      [batchId, clientId],
    );
  }

  /** Claims a resend that no process runs. */
  async claim(): Promise<ClaimedResend | undefined> {
    const [resend] = await this.transaction.manager.query<ClaimedResend[]>(
      `WITH recovery AS (
         UPDATE webhook_recovery SET lease_until = now() + interval '${LEASE}'
          WHERE id = (SELECT id FROM webhook_recovery
                       WHERE finished_at IS NULL AND lease_until < now()
                       ORDER BY requested_at LIMIT 1 FOR UPDATE SKIP LOCKED)
         RETURNING *)
       SELECT client_id AS "clientId", client.environment, event_ids AS "eventIds", ${COLUMNS}
         FROM recovery
         JOIN webhook_endpoint endpoint ON endpoint.id = endpoint_id
         JOIN api_client client ON client.id = client_id`,
    );
    return resend;
  }

  /** Renews the lease and counts what was done. */
  async progress(
    id: string,
    { handled = 0, queued = 0, received = 0, sending = 0 }: Partial<ResendProgress> = {},
  ): Promise<void> {
    await this.transaction.manager.query(
      `UPDATE webhook_recovery
          SET handled = handled + $2, queued = queued + $3, received = received + $4, sending = sending + $5,
              lease_until = now() + interval '${LEASE}'
        WHERE id = $1`,
      [id, handled, queued, received, sending],
    );
  }

  /**
   * Remembers the events that were found, so that a process that takes over continues with them.
   *
   * @returns those that a process has remembered first; none if the resend has finished
   */
  async select(id: string, eventIds: readonly string[]): Promise<readonly string[]> {
    const [resend] = await this.transaction.changedRows<{ readonly eventIds: readonly string[] }>(
      `UPDATE webhook_recovery
          SET event_ids = COALESCE(event_ids, $2), selected = cardinality(COALESCE(event_ids, $2::uuid[]))
        WHERE id = $1 AND finished_at IS NULL
      RETURNING event_ids AS "eventIds"`,
      [id, eventIds],
    );
    return resend?.eventIds ?? [];
  }

  /** Locks a running resend. @returns how many events have been handled */
  async lockHandled(id: string): Promise<number | undefined> {
    const [resend] = await this.transaction.manager.query<Pick<Resend, 'handled'>[]>(
      'SELECT handled FROM webhook_recovery WHERE id = $1 AND finished_at IS NULL FOR UPDATE',
      [id],
    );
    return resend?.handled;
  }

  async finish(id: string, now: Date): Promise<void> {
    await this.transaction.manager.query(
      'UPDATE webhook_recovery SET finished_at = $2, event_ids = NULL WHERE id = $1 AND finished_at IS NULL',
      [id, now],
    );
  }

  /**
   * Returns a page of the events that were not published to the endpoint because it was disabled, after the position,
   * oldest first; empty at the end. They include events that the endpoint has received.
   */
  missedEvents(endpointId: string, after: EventPosition): Promise<EventPosition[]> {
    return this.transaction.manager.query<EventPosition[]>(
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
