import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { AccessibleClients, type DashboardScope } from '../../../infrastructure/auth/index.js';
import type { AttributedClient } from '../../../infrastructure/http/index.js';
import { CursorCodec, type CursorScope } from '../../../infrastructure/crypto/index.js';
import { KeyedQueue } from '../../../infrastructure/queues/index.js';
import { Clock, CLOCK_TOLERANCE, periodOf, type Period } from '../../../infrastructure/time/index.js';
import { ApiClientDirectory } from '../../api-clients/index.js';
import {
  ENTRY_QUERY_TIMEOUT_MESSAGE,
  MAX_PERIOD,
  OrganizationQueryQueue,
  REQUEST_LOG_QUERY_TIMEOUT,
  RequestLogRepository,
  RequestLogsConfiguration,
  validPeriod,
  type AttemptSummary,
  type RequestLogEntry,
} from '../../request-logs/index.js';
import {
  type DeliveryState,
  type EventDeliveryResponse,
  type EventStatusResponse,
  type ListEventsQuery,
} from './published-events.dto.js';
import { EVENT_NOT_FOUND } from '../webhooks-errors.js';
import {
  PublishedEventsRepository,
  type DeliveryKey,
  type ListedEvent,
  type PendingDelivery,
  type PublishedEvent,
} from './published-events.repository.js';

/** A delivery of the event, with its last attempt. */
export interface EventDelivery extends EventDeliveryResponse {
  /** Undefined before the first attempt has ended. */
  readonly last: AttemptSummary['last'] | undefined;
  /** Attempts since the event was published or sent again, and how many there are at most; undefined if the delivery has ended. */
  readonly current: Pick<PendingDelivery, 'attempts' | 'allowed'> | undefined;
}

export type WithDeliveries<Event> = Event & { readonly deliveries: readonly EventDelivery[] };

/** An event and its delivery to an endpoint; undefined if the event has none. */
export interface ListedDelivery {
  readonly event: ListedEvent;
  readonly delivery: EventDelivery | undefined;
}

/** An event with its deliveries, and with all their attempts, the last `MAX_ATTEMPTS` of them, oldest first. */
export type TracedEvent = WithDeliveries<PublishedEvent> & { readonly attempts: readonly RequestLogEntry[] };

export interface DeliveryPage {
  readonly period: Required<Period>;
  readonly data: readonly ListedDelivery[];
  readonly nextCursor: string | null;
  /** How many deliveries have failed, and how many wait, up to `MAX_COUNTED`. */
  readonly counts: Readonly<Record<'failed' | 'waiting', number>>;
}

/** Failed attempts and waiting deliveries that are counted. */
export const MAX_COUNTED = 10_000;
/** Attempts of an event that its page shows. Without resends, each endpoint has up to three. */
const MAX_ATTEMPTS = 100;

interface Found {
  readonly data: readonly ListedDelivery[];
  /** The position of the next page. */
  readonly next: readonly (string | number)[] | undefined;
}

/** Reads events with their deliveries. Queries are bounded like those of the request log. */
@Injectable()
export class PublishedEventsService {
  /** By client: the queue of one may be so long that a status takes seconds to read, on one of the few connections. */
  private readonly statuses: KeyedQueue;

  constructor(
    private readonly repository: PublishedEventsRepository,
    private readonly requestLog: RequestLogRepository,
    private readonly clients: AccessibleClients,
    private readonly directory: ApiClientDirectory,
    private readonly cursors: CursorCodec,
    private readonly queries: OrganizationQueryQueue,
    private readonly clock: Clock,
    { queryTimeoutMilliseconds: milliseconds }: RequestLogsConfiguration,
  ) {
    const error = () => REQUEST_LOG_QUERY_TIMEOUT.error(ENTRY_QUERY_TIMEOUT_MESSAGE);
    this.statuses = new KeyedQueue(1, { timeout: { milliseconds, error } });
  }

  /**
   * Returns a page of the deliveries of the last 7 days by default. Those of the newest events come first, or those that failed last.
   *
   * @param limit the maximum number of deliveries, unless a single event has more
   */
  async page(
    { actor, environment }: DashboardScope,
    query: ListEventsQuery,
    limit: number,
  ): Promise<DeliveryPage> {
    const client = await this.clients.forEnvironment(actor, environment);
    const scope = scopeOf(client, query);
    const [end, ...position] = query.cursor === undefined ? [] : this.cursors.decode(query.cursor, scope);
    const period = validPeriod(
      query,
      end === undefined ? this.clock.now() : new Date(Number(end)),
      MAX_PERIOD,
    );
    const { data, next, counts } = await this.queries.run(actor.organizationId, async () => {
      const keys = await this.unfinished(client, period, query);
      const { outcome } = query;
      const page =
        outcome === 'failed' || outcome === 'waiting'
          ? await this.deliveriesWith(client, keys[outcome], { from: Number(position[0] ?? 0), limit })
          : await this.deliveriesOfNewest(client, period, query, { position, limit });
      return { ...page, counts: { failed: keys.failed.length, waiting: keys.waiting.length } };
    });
    const nextCursor = next ? this.cursors.encode([period.end.getTime(), ...next], scope) : null;
    return { period, data, counts, nextCursor };
  }

  /** Returns the deliveries that have failed, and those that wait. A delivery that waits for a retry has not failed yet. */
  private async unfinished(
    client: AttributedClient,
    period: Required<Period>,
    { event, external_user_id }: ListEventsQuery,
  ): Promise<Readonly<Record<'failed' | 'waiting', readonly DeliveryKey[]>>> {
    const filter = { ...(event && { event }), ...(external_user_id && { external_user_id }) };
    const waiting = await this.repository.waiting(client.clientId, period, filter, MAX_COUNTED);
    const { eventIds, endpointIds } = await this.requestLog.failedDeliveries(
      { client, period, filter },
      MAX_COUNTED,
    );
    const waits = new Set(waiting.map(({ eventId, endpointId }) => eventId + endpointId));
    const failed = eventIds
      .map((eventId, index) => ({ eventId, endpointId: endpointIds[index] ?? '' }))
      .filter(({ eventId, endpointId }) => !waits.has(eventId + endpointId));
    return { failed: failed.toReversed(), waiting };
  }

  /** @param page.from the number of deliveries on the pages before */
  private async deliveriesWith(
    client: AttributedClient,
    keys: readonly DeliveryKey[],
    { from, limit }: { readonly from: number; readonly limit: number },
  ): Promise<Found> {
    const shown = keys.slice(from, from + limit);
    const ids = [...new Set(shown.map(({ eventId }) => eventId))];
    const events = await this.withDeliveries(client, await this.repository.withIds(client.clientId, ids));
    const data = shown.flatMap(({ eventId, endpointId }) => {
      const event = events.find(({ id }) => id === eventId);
      // The event may be older than what is kept.
      return event
        ? [{ event, delivery: event.deliveries.find((each) => each.endpoint_id === endpointId) }]
        : [];
    });
    return { data, next: from + limit < keys.length ? [from + limit] : undefined };
  }

  private async deliveriesOfNewest(
    client: AttributedClient,
    period: Required<Period>,
    query: ListEventsQuery,
    { position: [time, id], limit }: { readonly position: readonly unknown[]; readonly limit: number },
  ): Promise<Found> {
    const before = id === undefined ? undefined : { createdAt: new Date(Number(time)), id: String(id) };
    const found = await this.repository.newest(client.clientId, period, query, { before, limit: limit + 1 });
    const events = await this.withDeliveries(client, found);
    let count = 0;
    const fits = events.filter(({ deliveries }) => (count += Math.max(deliveries.length, 1)) <= limit);
    const shown = fits.length === 0 ? events.slice(0, 1) : fits;
    const last = shown.length < events.length ? shown.at(-1) : undefined;
    return {
      data: shown.flatMap((event): ListedDelivery[] =>
        event.deliveries.length === 0
          ? [{ event, delivery: undefined }]
          : event.deliveries.map((delivery) => ({ event, delivery })),
      ),
      next: last && [last.createdAt.getTime(), last.id],
    };
  }

  /** Counts the events of the last 7 days, up to the limit. */
  async count(
    { actor, environment }: DashboardScope,
    { limit, ...filter }: Pick<ListEventsQuery, 'external_user_id'> & { readonly limit: number },
  ): Promise<number> {
    const { clientId } = await this.clients.forEnvironment(actor, environment);
    const period = validPeriod({}, this.clock.now(), MAX_PERIOD);
    const found = await this.queries.run(actor.organizationId, () =>
      this.repository.newest(clientId, period, filter, { before: undefined, limit }),
    );
    return found.length;
  }

  /** @throws ApiError EVENT_NOT_FOUND if the event does not exist, or belongs to another organization or environment */
  async get({ actor, environment }: DashboardScope, id: string): Promise<TracedEvent> {
    const client = await this.clients.forEnvironment(actor, environment);
    return this.queries.run(actor.organizationId, async () => {
      const event = await this.find(id);
      if (event?.clientId !== client.clientId) throw EVENT_NOT_FOUND.error();
      const [found] = await this.withDeliveries(client, [event]);
      const period = { start: sinceOf([event]), end: this.clock.now() };
      const selection = { client, period, filter: { event_id: id } };
      const attempts = await this.requestLog.newest(selection, { before: undefined, limit: MAX_ATTEMPTS });
      return { ...(found as WithDeliveries<PublishedEvent>), attempts: attempts.toReversed() };
    });
  }

  /**
   * Returns the status of an event of any client, for the platform's own services.
   *
   * @throws ApiError EVENT_NOT_FOUND if the event does not exist, or this host does not serve its client;
   * REQUEST_LOG_QUERY_TIMEOUT if it waits for statuses of the same client longer than a query may run
   */
  async statusOf(id: string): Promise<EventStatusResponse> {
    const event = await this.find(id);
    if (!event || !(await this.directory.find(event.clientId))) throw EVENT_NOT_FOUND.error();
    const read = () => this.withDeliveries(event, [event]);
    const [{ deliveries }] = (await this.statuses.run(event.clientId, read)) as [
      WithDeliveries<PublishedEvent>,
    ];
    return {
      id: event.id,
      client_id: event.clientId,
      environment: event.environment,
      event: event.name,
      session_id: event.sessionId,
      task_id: event.taskId,
      external_user_id: event.externalUserId,
      published_at: event.createdAt,
      deliveries: deliveries.map(({ last: _last, current: _current, ...delivery }) => delivery),
    };
  }

  private async find(id: string): Promise<PublishedEvent | undefined> {
    return isUUID(id) ? this.repository.one(id) : undefined;
  }

  private async withDeliveries<Event extends ListedEvent>(
    client: AttributedClient,
    events: readonly Event[],
  ): Promise<WithDeliveries<Event>[]> {
    if (events.length === 0) return [];
    const ids = events.map(({ id }) => id);
    const since = sinceOf(events);
    // In this order: a delivery that ends in between is shown as waiting, not as missing.
    const pending = await this.repository.pending(client.clientId, ids);
    const attempts = await this.requestLog.attemptsOf(client, ids, since);
    return events.map((event) => ({
      ...event,
      deliveries: deliveriesOf(
        pending.filter(({ eventId }) => eventId === event.id),
        attempts.filter(({ eventId }) => eventId === event.id),
      ),
    }));
  }
}

function scopeOf({ clientId, environment }: AttributedClient, query: ListEventsQuery): CursorScope {
  const { start, end } = periodOf(query);
  const { event, external_user_id: user, outcome } = query;
  return ['events', clientId, environment, start?.getTime(), end?.getTime(), event, user, outcome];
}

/** Returns since when the events may have attempts, by clocks that may differ. */
function sinceOf(events: readonly ListedEvent[]): Date {
  return new Date(Math.min(...events.map(({ createdAt }) => createdAt.getTime())) - CLOCK_TOLERANCE);
}

function deliveriesOf(
  pending: readonly PendingDelivery[],
  attempts: readonly AttemptSummary[],
): EventDelivery[] {
  const endpointIds = new Set([...attempts, ...pending].map(({ endpointId }) => endpointId));
  return [...endpointIds].map((endpointId) => {
    const isOf = (each: { readonly endpointId: string }): boolean => each.endpointId === endpointId;
    const waiting = pending.find(isOf);
    const { count = 0, last } = attempts.find(isOf) ?? {};
    return {
      endpoint_id: endpointId,
      state: stateOf(waiting, last),
      attempts: count,
      last_attempt_at: last?.createdAt ?? null,
      status_code: last?.statusCode ?? null,
      reason: last?.reason ?? null,
      next_attempt_at: waiting?.isClaimed === false ? waiting.dueAt : null,
      last,
      current: waiting,
    };
  });
}

function stateOf(waiting: PendingDelivery | undefined, last: EventDelivery['last']): DeliveryState {
  if (waiting) return waiting.isClaimed ? 'in_progress' : 'waiting';
  return last?.reason === null ? 'succeeded' : 'failed';
}
