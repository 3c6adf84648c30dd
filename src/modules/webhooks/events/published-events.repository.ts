import { Injectable } from '@nestjs/common';
import { CLOCK_TOLERANCE, SECOND, type Period } from '../../../infrastructure/time/index.js';
import {
  ENTRY_QUERY_TIMEOUT_MESSAGE,
  LogReads,
  type FailedDeliveries,
  type LogReadOptions,
} from '../../request-logs/index.js';
import { IS_SUBSCRIBED } from '../queue/sql/statement-parts.js';
import type { ListEventsQuery } from './published-events.dto.js';
import { HAS_BODY, type NewEvent, type EventPosition } from '../webhook-event.js';

export type ListedEvent = Pick<NewEvent, 'id' | 'createdAt' | 'name' | 'externalUserId' | 'isTest'>;

/** An event with everything that is known about it. */
export type PublishedEvent = ListedEvent &
  Pick<NewEvent, 'clientId' | 'environment' | 'sessionId' | 'taskId' | 'body'>;

export interface PendingDelivery {
  readonly eventId: string;
  readonly endpointId: string;
  readonly isClaimed: boolean;
  /** Attempts since the event was published or sent again, and how many there are at most. */
  readonly attempts: number;
  readonly allowed: number;
  /** When the next attempt is due, if none is in progress. */
  readonly dueAt: Date;
}

/** A delivery, which may have ended. */
export type DeliveryKey = Pick<PendingDelivery, 'eventId' | 'endpointId'>;

type EventFilter = Pick<ListEventsQuery, 'event' | 'external_user_id' | 'outcome'>;

/** The failed deliveries to an endpoint. */
export interface SendableDeliveries {
  readonly endpointId: string;
  readonly eventIds: readonly string[];
  readonly sending: number;
  /** The number of other events that cannot be sent again. */
  readonly impossible: number;
}

const LISTED = `id, created_at AS "createdAt", event AS name, external_user_id AS "externalUserId", is_test AS "isTest"`;
/** The UUID after all others. */
const MAX_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
/** Events with no logged attempt and no waiting delivery. An attempt is logged after its event was stored, by clocks that may differ. */
const HAS_NO_DELIVERY = `
          AND NOT EXISTS (SELECT FROM request_log attempt
                           WHERE attempt.client_id = $1 AND attempt.environment = webhook_event.environment
                             AND attempt.webhook_event_id = webhook_event.id
                             AND attempt.created_at >= webhook_event.created_at - interval '${CLOCK_TOLERANCE / SECOND} seconds')
          AND NOT EXISTS (SELECT FROM webhook_delivery delivery
                           WHERE endpoint_id = ANY (ARRAY(SELECT id FROM webhook_endpoint WHERE client_id = $1))
                             AND delivery.event_id = webhook_event.id)`;
const TOO_SLOW = 'The query took too long. Shorten the period, or leave out the filters.';

@Injectable()
export class PublishedEventsRepository {
  constructor(private readonly reads: LogReads) {}

  /**
   * Returns the newest events of a client in a period, before the position if there is one. `webhook_event_client_index` has
   * their order. The separate conditions on `created_at` are for partition pruning.
   */
  newest(
    clientId: string,
    { start, end }: Required<Period>,
    { event, external_user_id: user, outcome }: EventFilter,
    { before, limit }: { readonly before: EventPosition | undefined; readonly limit: number },
  ): Promise<ListedEvent[]> {
    return this.query<ListedEvent>(
      `SELECT ${LISTED} FROM webhook_event
        WHERE client_id = $1 AND created_at >= $2 AND created_at <= $3 AND (created_at, id) < ($3, $4)
          AND ($5::text IS NULL OR event = $5) AND ($6::text IS NULL OR external_user_id = $6)
          ${outcome === 'not_sent' ? HAS_NO_DELIVERY : ''}
        ORDER BY created_at DESC, id DESC
        LIMIT $7`,
      [clientId, start, before?.createdAt ?? end, before?.id ?? MAX_ID, event, user, limit],
      { before: before?.createdAt },
    );
  }

  /** Returns these events of a client, in any order. */
  withIds(clientId: string, ids: readonly string[]): Promise<ListedEvent[]> {
    return this.query<ListedEvent>(
      `SELECT ${LISTED} FROM webhook_event WHERE client_id = $1 AND id = ANY ($2)`,
      [clientId, ids],
    );
  }

  /** Returns the deliveries of a client's events of a period that have not ended, those of the newest events first. */
  waiting(
    clientId: string,
    { start, end }: Required<Period>,
    { event, external_user_id: user }: EventFilter,
    limit: number,
  ): Promise<DeliveryKey[]> {
    return this.query<DeliveryKey>(
      `SELECT event_id AS "eventId", endpoint_id AS "endpointId" FROM webhook_delivery delivery
        WHERE endpoint_id = ANY (ARRAY(SELECT id FROM webhook_endpoint WHERE client_id = $1 AND deleted_at IS NULL))
          AND event_created_at >= $2 AND event_created_at <= $3
          AND ($4::text IS NULL AND $5::text IS NULL OR EXISTS (
            SELECT FROM webhook_event WHERE webhook_event.id = event_id AND created_at = event_created_at
               AND ($4 IS NULL OR event = $4) AND ($5 IS NULL OR external_user_id = $5)))
        ORDER BY event_created_at DESC, delivery.id DESC LIMIT $6`,
      [clientId, start, end, event, user, limit],
    );
  }

  /** Returns an event of any client. */
  async one(id: string): Promise<PublishedEvent | undefined> {
    const [event] = await this.query<Omit<PublishedEvent, 'taskId'> & { readonly taskId: string | null }>(
      `SELECT ${LISTED}, client_id AS "clientId", environment, session_id AS "sessionId", task_id AS "taskId", body
         FROM webhook_event WHERE id = $1`,
      [id],
      { timeoutMessage: ENTRY_QUERY_TIMEOUT_MESSAGE },
    );
    return event && { ...event, taskId: event.taskId === null ? null : Number(event.taskId) };
  }

  /**
   * Returns the deliveries of some events that have not ended. Reads the queues of the client's endpoints, which are short
   * unless an endpoint is down or paused.
   */
  pending(clientId: string, eventIds: readonly string[]): Promise<PendingDelivery[]> {
    return this.query<PendingDelivery>(
      `SELECT event_id AS "eventId", endpoint_id AS "endpointId", claim_id IS NOT NULL AS "isClaimed",
              attempts, attempts_allowed AS allowed, due_at AS "dueAt"
         FROM webhook_delivery
        WHERE endpoint_id = ANY (ARRAY(SELECT id FROM webhook_endpoint WHERE client_id = $1 AND deleted_at IS NULL))
          AND event_id = ANY ($2)`,
      [clientId, eventIds],
    );
  }

  /**
   * Returns which of some deliveries of a client can be sent again, by endpoint. Leaves out endpoints that were deleted.
   *
   * @throws ApiError REQUEST_LOG_QUERY_TIMEOUT
   */
  sendable(
    clientId: string,
    { eventIds, endpointIds }: Pick<FailedDeliveries, 'eventIds' | 'endpointIds'>,
  ): Promise<SendableDeliveries[]> {
    return this.query<SendableDeliveries>(
      `WITH event AS MATERIALIZED (
         SELECT id, event FROM webhook_event event
          WHERE client_id = $1 AND id = ANY ($2) AND NOT is_test AND ${HAS_BODY}),
       sending AS MATERIALIZED (
         SELECT DISTINCT endpoint_id, event_id FROM webhook_delivery
          WHERE endpoint_id = ANY ($3) AND event_id = ANY ($2) AND (claim_id IS NOT NULL OR due_at <= now())),
       delivery AS (
         SELECT failed.*, sending.event_id IS NOT NULL AS is_sending, (event.id IS NOT NULL AND ${IS_SUBSCRIBED}) IS TRUE AS is_possible
           FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY failed (event_id, endpoint_id, position)
           JOIN webhook_endpoint endpoint ON endpoint.id = failed.endpoint_id AND client_id = $1 AND deleted_at IS NULL
           LEFT JOIN event ON event.id = failed.event_id
           LEFT JOIN sending ON sending.endpoint_id = failed.endpoint_id AND sending.event_id = failed.event_id)
       SELECT endpoint_id AS "endpointId",
              COALESCE(array_agg(event_id ORDER BY position) FILTER (WHERE is_possible AND NOT is_sending), '{}') AS "eventIds",
              count(*) FILTER (WHERE is_sending)::integer AS sending,
              count(*) FILTER (WHERE NOT is_sending AND NOT is_possible)::integer AS impossible
         FROM delivery GROUP BY endpoint_id`,
      [clientId, eventIds, endpointIds],
    );
  }

  /** @throws ApiError REQUEST_LOG_QUERY_TIMEOUT */
  private query<Row extends object>(
    statement: string,
    values: readonly unknown[],
    options: LogReadOptions = {},
  ): Promise<Row[]> {
    return this.reads.query<Row>(statement, values, { timeoutMessage: TOO_SLOW, ...options });
  }
}
