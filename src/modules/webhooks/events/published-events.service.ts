import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { AccessibleClients, type DashboardScope } from '../../../infrastructure/auth/index.js';
import type { AttributedClient } from '../../../infrastructure/http/index.js';
import { CursorCodec, type CursorScope } from '../../../infrastructure/crypto/index.js';
import { cutToPage } from '../../../infrastructure/paging/index.js';
import { Clock, CLOCK_TOLERANCE, periodOf, type Period } from '../../../infrastructure/time/index.js';
import { ApiClientDirectory } from '../../api-clients/index.js';
import {
  MAX_PERIOD,
  OrganizationQueryQueue,
  RequestLogRepository,
  validPeriod,
  type AttemptSummary,
} from '../../request-logs/index.js';
import {
  EVENT_NOT_FOUND,
  type DeliveryState,
  type EventDeliveryResponse,
  type EventStatusResponse,
  type ListEventsQuery,
} from './published-events.dto.js';
import {
  PublishedEventsRepository,
  type ListedEvent,
  type PendingDelivery,
  type PublishedEvent,
} from './published-events.repository.js';

/** A delivery of the event, with its last attempt. */
export interface EventDelivery extends EventDeliveryResponse {
  /** Undefined before the first attempt has ended. */
  readonly last: AttemptSummary['last'] | undefined;
}

export type WithDeliveries<Event> = Event & { readonly deliveries: readonly EventDelivery[] };

export interface EventPage {
  readonly period: Required<Period>;
  readonly data: readonly WithDeliveries<ListedEvent>[];
  readonly nextCursor: string | null;
}

/** Reads events with their deliveries. Queries are bounded like those of the request log. */
@Injectable()
export class PublishedEventsService {
  constructor(
    private readonly repository: PublishedEventsRepository,
    private readonly requestLog: RequestLogRepository,
    private readonly clients: AccessibleClients,
    private readonly directory: ApiClientDirectory,
    private readonly cursors: CursorCodec,
    private readonly queries: OrganizationQueryQueue,
    private readonly clock: Clock,
  ) {}

  /** Returns a page, newest first, of the last 7 days by default. */
  async page(
    { actor, environment }: DashboardScope,
    query: ListEventsQuery,
    limit: number,
  ): Promise<EventPage> {
    const client = await this.clients.forEnvironment(actor, environment);
    const scope = scopeOf(client, query);
    const [end, time, id] = query.cursor === undefined ? [] : this.cursors.decode(query.cursor, scope);
    const period = validPeriod(
      query,
      end === undefined ? this.clock.now() : new Date(Number(end)),
      MAX_PERIOD,
    );
    const before = id === undefined ? undefined : { createdAt: new Date(Number(time)), id: String(id) };
    return this.queries.run(actor.organizationId, async () => {
      const found = await this.repository.newest(client.clientId, period, query, {
        before,
        limit: limit + 1,
      });
      const { entries: events, last } = cutToPage(found, limit);
      return {
        period,
        data: await this.withDeliveries(client, events),
        nextCursor: last
          ? this.cursors.encode([period.end.getTime(), last.createdAt.getTime(), last.id], scope)
          : null,
      };
    });
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
  async get({ actor, environment }: DashboardScope, id: string): Promise<WithDeliveries<PublishedEvent>> {
    const client = await this.clients.forEnvironment(actor, environment);
    return this.queries.run(actor.organizationId, async () => {
      const event = await this.find(id);
      if (event?.clientId !== client.clientId) throw EVENT_NOT_FOUND.error();
      const [found] = await this.withDeliveries(client, [event]);
      return found as WithDeliveries<PublishedEvent>;
    });
  }

  /**
   * Returns the status of an event of any client, for the platform's own services.
   *
   * @throws ApiError EVENT_NOT_FOUND if the event does not exist, or this host does not serve its client
   */
  async statusOf(id: string): Promise<EventStatusResponse> {
    const event = await this.find(id);
    if (!event || !(await this.directory.find(event.clientId))) throw EVENT_NOT_FOUND.error();
    const [{ deliveries }] = (await this.withDeliveries(event, [event])) as [WithDeliveries<PublishedEvent>];
    return {
      id: event.id,
      client_id: event.clientId,
      environment: event.environment,
      event: event.name,
      session_id: event.sessionId,
      task_id: event.taskId,
      external_user_id: event.externalUserId,
      published_at: event.createdAt,
      deliveries: deliveries.map(({ last: _last, ...delivery }) => delivery),
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
    const since = new Date(Math.min(...events.map(({ createdAt }) => createdAt.getTime())) - CLOCK_TOLERANCE);
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
  const { event, external_user_id: user } = query;
  return ['events', clientId, environment, start?.getTime(), end?.getTime(), event, user];
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
    };
  });
}

function stateOf(waiting: PendingDelivery | undefined, last: EventDelivery['last']): DeliveryState {
  if (waiting) return waiting.isClaimed ? 'in_progress' : 'waiting';
  return last?.reason === null ? 'succeeded' : 'failed';
}
