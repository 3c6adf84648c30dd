import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { CredentialsCheck, type AuthenticatedClient } from '../../../infrastructure/auth/index.js';
import { CursorCodec, type CursorScope } from '../../../infrastructure/crypto/index.js';
import { KeyedQueue } from '../../../infrastructure/queues/index.js';
import { TOO_MANY_REQUESTS } from '../../../infrastructure/errors/index.js';
import { requestContext } from '../../../infrastructure/http/index.js';
import { GaugeMetric, Metrics } from '../../../infrastructure/metrics/index.js';
import { Clock, CLOCK_TOLERANCE, DAY, SECOND } from '../../../infrastructure/time/index.js';
import { RequestLogsConfiguration } from '../../request-logs/index.js';
import { EventHorizon, RETRY_AFTER } from '../stream/event-horizon.js';
import { EventWatch } from '../stream/event-watch.js';
import type { ListenerLimit } from '../stream/webhook-stream.repository.js';
import type { EventPosition } from '../webhook-event.js';
import { EVENT_CURSOR_EXPIRED } from '../webhooks-errors.js';
import {
  FEED_SCOPE,
  MAX_WAITING,
  TOO_MANY_WAITING,
  type ReadWebhookEventsQuery,
  type WebhookEventListResponse,
  type WebhookEventResponse,
} from './event-feed.dto.js';
import { EventFeedRepository, type FeedEvent, type FeedFilter } from './event-feed.repository.js';
import { FeedReader } from './feed-reader.js';

/** Milliseconds that a page waits for transactions that are publishing. */
const PATIENCE = 250;
/** Milliseconds since the last event that a reader has read, after which the next page is likely to be full. */
const FAR_BEHIND = 10 * SECOND;
/** Reads of one client at the same time. */
const CONCURRENT_READS = 2;
/** Milliseconds that a reader who begins with the oldest event has for a page. Events are kept a day longer than promised. */
const GRACE = DAY / 2;

const LIMIT: ListenerLimit = {
  max: MAX_WAITING,
  readsFeed: true,
  refusal: () => TOO_MANY_REQUESTS.error(TOO_MANY_WAITING, { retryAfter: RETRY_AFTER }),
};

const WAITING = new GaugeMetric({
  name: 'mcs_webhook_feed_waiting',
  help: 'Requests that wait for the next event of the event feed in this process.',
});

/** The content of a cursor. */
interface Place {
  /** Everything up to this position was read. */
  readonly position: number;
  /**
   * The last event that was read, or an empty text: after a crash or a failover, PostgreSQL can assign positions again, and the
   * position of a lost event then belongs to another event.
   */
  readonly id: string;
  readonly createdAt: number;
  /** All events until this time were read. A client without new events has a recent cursor, too. */
  readonly seenAt: number;
}

interface Reading {
  readonly clientId: string;
  readonly filter: FeedFilter;
  readonly limit: number;
  readonly scope: CursorScope;
  readonly from: Place;
}

/** Lets clients read their events, in one order that never changes. */
@Injectable()
export class EventFeedService {
  private readonly reads = new KeyedQueue(CONCURRENT_READS);
  private waiting = 0;

  constructor(
    private readonly repository: EventFeedRepository,
    private readonly horizon: EventHorizon,
    private readonly watch: EventWatch,
    private readonly credentials: CredentialsCheck,
    private readonly cursors: CursorCodec,
    private readonly clock: Clock,
    private readonly retention: RequestLogsConfiguration,
    metrics: Metrics,
  ) {
    metrics.value(WAITING, () => this.waiting);
  }

  /** @throws ApiError EVENT_CURSOR_EXPIRED, or INVALID_CURSOR_FORMAT for a cursor of another client or other filters */
  async read(
    { clientId }: AuthenticatedClient,
    query: ReadWebhookEventsQuery,
    request: Request,
    response: Response,
  ): Promise<WebhookEventListResponse> {
    const { limit, wait, external_user_id: externalUserId } = query;
    const events = query.event && [...new Set(query.event)].toSorted();
    const scope = ['webhook-events', clientId, externalUserId, ...(events ?? [])];
    const [reading, page] = await this.reads.run(clientId, async () => {
      const from = await this.placeOf(clientId, query, scope);
      const beginning = { clientId, filter: { events, externalUserId }, limit, scope, from };
      return [beginning, await this.pageNow(beginning)] as const;
    });
    if (isEnough(page) || wait === 0) return page;
    // Otherwise, the metric of the oldest request would report a request that hangs.
    requestContext(request).isWaiting = true;
    const later = await this.pageLater(reading, new FeedReader(clientId, wait * SECOND), response);
    // If the credentials are no longer accepted, the page stays empty. The response to the next request says why.
    return isEnough(later) && !(await this.credentials.areAccepted(request, FEED_SCOPE)) ? page : later;
  }

  private async pageNow(reading: Reading): Promise<WebhookEventListResponse> {
    const { current, isRecent } = this.horizon;
    const { position, seenAt } = reading.from;
    // A reader who is far behind gets a full page, for which the horizon need not move.
    if (isRecent && position < current && this.clock.milliseconds() - seenAt > FAR_BEHIND) {
      const early = await this.pageUpTo(current, false, reading);
      if (early.has_more) return early;
    }
    const isComplete = await this.horizon.approach(0);
    const page = await this.pageUpTo(this.horizon.current, isComplete, reading);
    if (isComplete || page.has_more) return page;
    const isReached = await this.horizon.approach(PATIENCE);
    return this.pageUpTo(this.horizon.current, isReached, reading);
  }

  private async pageLater(
    reading: Reading,
    reader: FeedReader,
    response: Response,
  ): Promise<WebhookEventListResponse> {
    const { clientId } = reading;
    await this.watch.connect();
    response.once('close', () => reader.end());
    if (response.destroyed || this.watch.isStopping) reader.end();
    const look = (): Promise<WebhookEventListResponse> =>
      this.reads.run(clientId, () => this.pageUpTo(this.horizon.current, !this.horizon.isWaiting, reading));
    this.waiting += 1;
    try {
      return await this.watch.attend(clientId, LIMIT, () =>
        this.watch.during(reader, () => reader.until(look, isEnough)),
      );
    } finally {
      this.waiting -= 1;
    }
  }

  /** @param isComplete whether nothing before this request can be after the horizon */
  private async pageUpTo(
    last: number,
    isComplete: boolean,
    reading: Reading,
  ): Promise<WebhookEventListResponse> {
    const { clientId, filter, limit, scope, from } = reading;
    const now = this.clock.milliseconds();
    const after = { position: from.position, previous: this.previousOf(from) };
    const found = await this.repository.between(clientId, { after, last, limit }, filter);
    if (!found) {
      // The position may belong to another event by now.
      const earlier = await this.beginning(clientId, from.createdAt - CLOCK_TOLERANCE);
      const end = Math.min(last, this.horizon.current);
      return this.pageUpTo(end, isComplete, { ...reading, from: earlier });
    }
    const { position, id, createdAt } = found.last
      ? { ...found.last, createdAt: found.last.createdAt.getTime() }
      : from;
    const readUntil = found.last ? createdAt : from.seenAt;
    const seenAt = isComplete && !found.isCut ? now : readUntil;
    return {
      data: found.events.map(responseOf),
      next_cursor: this.cursors.encode([position, id, createdAt, seenAt], scope),
      has_more: found.isCut,
      delayed: !isComplete && !found.isCut,
    };
  }

  /** Returns the last event before the place; undefined if there is none, or it may be no longer kept. */
  private previousOf({ id, createdAt }: Place): EventPosition | undefined {
    return id === '' || createdAt < this.oldestKept ? undefined : { id, createdAt: new Date(createdAt) };
  }

  private get oldestKept(): number {
    return this.clock.milliseconds() - this.retention.retentionDays * DAY;
  }

  private async placeOf(
    clientId: string,
    { cursor, start }: ReadWebhookEventsQuery,
    scope: CursorScope,
  ): Promise<Place> {
    const { oldestKept } = this;
    if (cursor === undefined)
      return this.beginning(clientId, Math.max(oldestKept, start === undefined ? 0 : Date.parse(start)));
    const [position, id, createdAt, seenAt] = this.cursors.decode(cursor, scope) as [
      number,
      string,
      number,
      number,
    ];
    if (seenAt < oldestKept - GRACE) {
      const oldest = await this.beginning(clientId, oldestKept);
      const oldestCursor = this.cursors.encode(
        [oldest.position, oldest.id, oldest.createdAt, oldest.seenAt],
        scope,
      );
      throw EVENT_CURSOR_EXPIRED.error(undefined, { oldestCursor });
    }
    return { position, id, createdAt, seenAt };
  }

  /** Returns the place before the events since a time. */
  private async beginning(clientId: string, time: number): Promise<Place> {
    await this.horizon.approach(0);
    const { current } = this.horizon;
    const first = await this.repository.firstSince(clientId, new Date(time));
    // An event that is being published may have a position before that of the first one.
    if (first !== undefined)
      return { position: Math.min(first - 1, current), id: '', createdAt: 0, seenAt: time };
    const last = await this.repository.lastUpTo(clientId, current);
    return {
      position: last?.position ?? 0,
      id: last?.id ?? '',
      createdAt: last?.createdAt.getTime() ?? 0,
      seenAt: time,
    };
  }
}

function isEnough(page: WebhookEventListResponse): boolean {
  return page.data.length > 0 || page.has_more;
}

function responseOf({ id, name, createdAt, body, isErased }: FeedEvent): WebhookEventResponse {
  return {
    id,
    event: name,
    created_at: createdAt,
    ...(isErased ? { erased: true } : { body: body.toString() }),
  };
}
