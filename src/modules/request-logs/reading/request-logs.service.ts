import { Injectable } from '@nestjs/common';
import {
  AccessibleClients,
  type DashboardActor,
  type DashboardScope,
} from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import type { AttributedClient } from '../../../infrastructure/http/index.js';
import { CursorCodec, type CursorScope } from '../../../infrastructure/crypto/index.js';
import { continued } from '../../../infrastructure/database/index.js';
import { cutToPage } from '../../../infrastructure/paging/index.js';
import { Clock, periodOf } from '../../../infrastructure/time/index.js';
import { OrganizationQueryQueue } from '../storage/log-reads.js';
import { RequestLogRepository } from '../storage/request-log.repository.js';
import type { RequestLogPosition } from '../request-log-entry.js';
import { activeFilters, type RequestLogFilter } from '../storage/request-log-filter.js';
import {
  type RequestLogEntry,
  type RequestLogListResponse,
  type RequestLogPageQuery,
  type SingleRequestLogEntryResponse,
} from '../request-logs.dto.js';
import { REQUEST_LOG_NOT_FOUND } from '../request-logs-errors.js';
import { validPeriod } from '../request-log-period.js';

const ID = /^[1-9]\d{0,15}$/;
/** Reading a batch takes a few milliseconds, in which the process does nothing else. */
const ENTRIES_PER_BATCH = 250;
const BEGINNING = new Date(0);

/** Reads the request log of a dashboard user's organization (specification, operation 3). */
@Injectable()
export class RequestLogsService {
  constructor(
    private readonly repository: RequestLogRepository,
    private readonly clients: AccessibleClients,
    private readonly cursors: CursorCodec,
    private readonly clock: Clock,
    private readonly queries: OrganizationQueryQueue,
  ) {}

  /** Returns a page, newest first. Entries that are added meanwhile do not shift later pages. */
  async page(actor: DashboardActor, query: RequestLogPageQuery): Promise<RequestLogListResponse> {
    const client = await this.clients.forEnvironment(actor, query.environment);
    const scope = scopeOf(client, query);
    const [end, time = 0, id] =
      query.cursor === undefined ? [] : this.cursors.decode(query.cursor, scope).map(Number);
    // If the request gives no end, that of the first page applies.
    const period = validPeriod(query, end === undefined ? this.clock.now() : new Date(end));
    const before = id === undefined ? undefined : { datetime: new Date(time), id };
    const found = isContradictory(query)
      ? []
      : await this.queries.run(actor.organizationId, () =>
          this.repository.newest({ client, period, filter: query }, { before, limit: query.limit + 1 }),
        );
    const { entries, last } = cutToPage(found, query.limit);
    return {
      data: entries.map(({ delivery: _delivery, ...entry }) => entry),
      next_cursor: last
        ? this.cursors.encode([period.end.getTime(), last.datetime.getTime(), last.id], scope)
        : null,
      limit: query.limit,
    };
  }

  /** Returns the newest entries, newest first. They are read in batches, so that an export needs little memory. */
  async *newest(
    actor: DashboardActor,
    query: RequestLogPageQuery,
    maximum: number,
  ): AsyncGenerator<RequestLogEntry[]> {
    const client = await this.clients.forEnvironment(actor, query.environment);
    const selection = { client, period: validPeriod(query, this.clock.now()), filter: query };
    let [before, left]: [RequestLogPosition | undefined, number] = [undefined, maximum];
    while (left > 0 && !isContradictory(query)) {
      const limit = Math.min(left, ENTRIES_PER_BATCH);
      const page = { before, limit };
      const read = (): Promise<RequestLogEntry[]> => this.repository.newest(selection, page);
      const batch: RequestLogEntry[] = await (before
        ? continued(() => this.queries.run(actor.organizationId, read, true))
        : this.queries.run(actor.organizationId, read));
      yield batch;
      before = batch.at(-1);
      left = batch.length < limit ? 0 : left - limit;
    }
  }

  /** Returns the time of the newest entry of an environment with these values, or undefined if there is none. */
  async newestTime(
    { actor, environment }: DashboardScope,
    filter: RequestLogFilter = {},
  ): Promise<Date | undefined> {
    const client = await this.clients.forEnvironment(actor, environment);
    const selection = { client, period: { start: BEGINNING, end: this.clock.now() }, filter };
    const [entry] = await this.queries.run(actor.organizationId, () =>
      this.repository.newest(selection, { before: undefined, limit: 1 }),
    );
    return entry?.datetime;
  }

  /** Returns users of the organization with entries whose identifier begins with the text. */
  async usersWith(
    { actor, environment }: DashboardScope,
    { prefix, limit }: { readonly prefix: string; readonly limit: number },
  ): Promise<string[]> {
    const client = await this.clients.forEnvironment(actor, environment);
    return this.queries.run(actor.organizationId, () => this.repository.usersWith(client, prefix, limit));
  }

  /** Returns the milliseconds within which 95 % of the newest attempts of an endpoint ended; null if there are none. */
  async latencyOf(
    actor: DashboardActor,
    client: AttributedClient,
    endpointId: string,
  ): Promise<number | null> {
    return this.queries.run(actor.organizationId, () => this.repository.latencyOf(client, endpointId));
  }

  /**
   * @param environment if given, entries of the other environment are not found
   * @throws ApiError REQUEST_LOG_NOT_FOUND if the entry does not exist, or belongs to another organization or to an
   * environment that the token has no access to
   */
  async get(
    actor: DashboardActor,
    id: string,
    environment?: PlatformEnvironment,
  ): Promise<SingleRequestLogEntryResponse> {
    const clients = environment
      ? [await this.clients.forEnvironment(actor, environment)]
      : await this.clients.all(actor);
    const entry = ID.test(id)
      ? await this.queries.run(actor.organizationId, () => this.repository.find(clients, Number(id)))
      : undefined;
    if (!entry) throw REQUEST_LOG_NOT_FOUND.error();
    return entry;
  }
}

/** The filters at fixed positions of a cursor. The cursors of the last release stay valid. */
const FIRST_FILTERS = ['type', 'session_id', 'task_id', 'external_user_id', 'event', 'status_code'] as const;

/** Returns the scope of a cursor: all parameters except the limit, which may change between pages. */
function scopeOf({ clientId, environment }: AttributedClient, query: RequestLogPageQuery): CursorScope {
  const { start, end } = periodOf(query);
  const values = new Map<string, string | number>(
    activeFilters(query).map(({ name, value, isUuid }) => [
      name,
      isUuid ? String(value).toLowerCase() : value,
    ]),
  );
  if (query.outcome !== undefined) values.set('outcome', query.outcome);
  const first = FIRST_FILTERS.map((name) => values.get(name));
  for (const name of FIRST_FILTERS) values.delete(name);
  const others = [...values].flat();
  return ['request_logs', clientId, environment, start?.getTime(), end?.getTime(), ...first, ...others];
}

/**
 * Returns whether no entry can match, because only webhooks have events and endpoints, and only API requests an operation. Saves a
 * query that would read the whole period.
 */
function isContradictory(query: RequestLogPageQuery): boolean {
  const types = [query.type, ...activeFilters(query).map(({ type }) => type)];
  return types.includes('request') && types.includes('webhook');
}
