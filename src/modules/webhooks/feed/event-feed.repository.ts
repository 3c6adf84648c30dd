import { Injectable } from '@nestjs/common';
import { prepared, QueryTimeout, ReadPools, type ReadPool } from '../../../infrastructure/database/index.js';
import { SERVICE_UNAVAILABLE } from '../../../infrastructure/errors/index.js';
import { CLOCK_TOLERANCE } from '../../../infrastructure/time/index.js';
import { RequestLogsConfiguration } from '../../request-logs/index.js';
import { RETRY_AFTER } from '../stream/event-horizon.js';
import { HAS_BODY, type EventPosition, type NewEvent } from '../webhook-event.js';

/** The maximum number of bytes of all bodies of a page, unless the page has a single event. */
const MAX_BODY_BYTES = 1_048_576;
/** Events that one statement reads. With filters, most of them may not match. */
const EVENTS_PER_SCAN = 2_000;
/** Connections: more than one client uses at the same time. */
const FEED_CONNECTIONS = 4;

export interface FeedFilter {
  readonly events: readonly string[] | undefined;
  readonly externalUserId: string | undefined;
}

/** An event with its position. */
export interface FeedPlace extends EventPosition {
  readonly position: number;
}

export interface FeedEvent extends FeedPlace, Pick<NewEvent, 'name' | 'body'> {
  /** Whether the user of the event was erased. */
  readonly isErased: boolean;
}

/** Where to begin to read. */
export interface FeedStart {
  /** Everything up to this position was read. */
  readonly position: number;
  /** The event at this position, which must still be stored there; undefined if there is none, or it may be no longer kept. */
  readonly previous: EventPosition | undefined;
}

export interface FoundEvents {
  /** The events: one more than the limit if there are more. */
  readonly events: readonly FeedEvent[];
  /** Whether there are further events, or may be. */
  readonly isCut: boolean;
  /** The last event that was read, whether or not it matches the filter. */
  readonly last: FeedPlace | undefined;
}

type Row = { readonly [Column in keyof FeedEvent]: FeedEvent[Column] | null } & {
  readonly isStored: boolean;
  readonly scanned: number | null;
  readonly lastId: string;
  readonly lastCreatedAt: Date;
  readonly lastPosition: string | null;
};

/** Matches `webhook_event_feed_index`. */
const IS_READ = 'NOT is_test';

/**
 * Planning for all partitions takes longer than reading a page. So each connection plans once, without knowing the values: it must
 * use the index that has the order, however many rows PostgreSQL expects.
 */
const SESSION = {
  plan_cache_mode: 'force_generic_plan',
  enable_bitmapscan: 'off',
  enable_seqscan: 'off',
  enable_sort: 'off',
};

const PAGE = prepared(
  `WITH event AS (
          SELECT *, ($4::text[] IS NULL OR event = ANY ($4)) AND ($5::text IS NULL OR external_user_id = $5) AS matches
            FROM webhook_event
           WHERE client_id = $1 AND ${IS_READ} AND position > $2 AND position <= $3
           ORDER BY position LIMIT $6),
        scanned AS MATERIALIZED (
          SELECT id, created_at, position, event, matches, octet_length(body) AS size, NOT (${HAS_BODY}) AS is_erased,
                 CASE WHEN matches THEN body END AS body
            FROM event),
        found AS (
          SELECT *, sum(size) OVER (ORDER BY position) AS bytes, row_number() OVER (ORDER BY position) AS number
            FROM scanned WHERE matches ORDER BY position LIMIT $7 + 1),
        last AS (
          SELECT id AS "lastId", created_at AS "lastCreatedAt", position AS "lastPosition",
                 (SELECT count(*)::integer FROM scanned) AS scanned
            FROM scanned ORDER BY position DESC LIMIT 1),
        previous AS (
          SELECT $8::uuid IS NULL OR EXISTS (
                   SELECT FROM webhook_event WHERE id = $8 AND created_at = $9 AND client_id = $1) AS "isStored")
   SELECT "isStored", last.*, id, created_at AS "createdAt", position, event AS name, is_erased AS "isErased",
          CASE WHEN number <= $7 AND (bytes <= ${MAX_BODY_BYTES} OR number = 1) THEN body END AS body
     FROM previous LEFT JOIN last ON true LEFT JOIN found ON true ORDER BY position`,
);

const FIRST_SINCE = prepared(
  `WITH first AS MATERIALIZED (
          SELECT created_at FROM webhook_event
           WHERE client_id = $1 AND created_at >= $2 AND ${IS_READ} ORDER BY created_at, id LIMIT 1)
   SELECT min(position) AS position FROM webhook_event
    WHERE client_id = $1 AND ${IS_READ} AND created_at >= (SELECT created_at FROM first)
      AND created_at <= (SELECT created_at FROM first) + ${CLOCK_TOLERANCE} * interval '1 millisecond'`,
);

const LAST_UP_TO = prepared(
  `SELECT id, created_at AS "createdAt", position FROM webhook_event
    WHERE client_id = $1 AND ${IS_READ} AND position <= $2
    ORDER BY position DESC LIMIT 1`,
);

/** Reads the events of a client in the order of their positions, which `EventHorizon` explains. */
@Injectable()
export class EventFeedRepository {
  private readonly pool: ReadPool;

  /** Pages with filters can read many events: they leave the connections of the service to other requests. */
  constructor(pools: ReadPools, { queryTimeoutMilliseconds }: RequestLogsConfiguration) {
    const timeoutMilliseconds = queryTimeoutMilliseconds;
    this.pool = pools.open('event-feed', {
      connections: FEED_CONNECTIONS,
      timeoutMilliseconds,
      session: SESSION,
    });
  }

  /** @throws ApiError SERVICE_UNAVAILABLE if the query exceeds the timeout of the pool */
  private async query<Found extends object>(statement: string, parameters: unknown[]): Promise<Found[]> {
    try {
      return await this.pool.query<Found>(statement, parameters);
    } catch (error) {
      throw error instanceof QueryTimeout
        ? SERVICE_UNAVAILABLE.error(undefined, { retryAfter: RETRY_AFTER })
        : error;
    }
  }

  /**
   * Returns events after a place up to a position, oldest first. A page ends before the event with which its bodies would have
   * too many bytes: PostgreSQL knows the sizes without reading the bodies.
   *
   * @param after `previous` is the last event before the place, unless it may be no longer stored
   * @returns undefined if the previous event is not stored
   */
  async between(
    clientId: string,
    { after, last, limit }: { readonly after: FeedStart; readonly last: number; readonly limit: number },
    { events, externalUserId }: FeedFilter,
  ): Promise<FoundEvents | undefined> {
    const isFiltered = events !== undefined || externalUserId !== undefined;
    const maxScanned = isFiltered ? EVENTS_PER_SCAN : limit + 1;
    const { position, previous } = after;
    const rows = await this.query<Row>(PAGE, [
      clientId,
      position,
      last,
      events,
      externalUserId,
      maxScanned,
      limit,
      previous?.id,
      previous?.createdAt,
    ]);
    const [row] = rows;
    if (!row?.isStored) return undefined;
    const found = rows.flatMap(({ id, position, ...row }) =>
      id === null ? [] : [{ ...row, id, position: Number(position) } as FeedEvent],
    );
    const fitting = found.filter(({ body }) => body !== null);
    return {
      events: fitting,
      isCut: fitting.length < found.length || row.scanned === maxScanned,
      last: fitting.length < found.length ? fitting.at(-1) : lastOf(row),
    };
  }

  /**
   * Returns the first position of the events since a time; undefined if there are none. Times and positions can have different orders,
   * but not by more than the clocks differ.
   */
  async firstSince(clientId: string, time: Date): Promise<number | undefined> {
    const [row] = await this.query<{ position: string | null }>(FIRST_SINCE, [clientId, time]);
    return row?.position ? Number(row.position) : undefined;
  }

  /** Returns the last event up to a position; undefined if there is none. */
  async lastUpTo(clientId: string, position: number): Promise<FeedPlace | undefined> {
    const [row] = await this.query<EventPosition & { position: string }>(LAST_UP_TO, [clientId, position]);
    return row && { ...row, position: Number(row.position) };
  }
}

function lastOf({
  lastId: id,
  lastCreatedAt: createdAt,
  lastPosition: position,
}: Row): FeedPlace | undefined {
  return position === null ? undefined : { id, createdAt, position: Number(position) };
}
