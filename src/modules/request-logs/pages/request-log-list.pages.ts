import { Controller, Get, Inject, Post, type StreamableFile } from '@nestjs/common';
import type { Request } from 'express';
import { AccessibleClients, type DashboardActor } from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import {
  DashboardAction,
  DashboardExport,
  DashboardPage,
  dashboardPath,
  exportFile,
  ExportFormatField,
  inEachEnvironment,
  ListPage,
  PERIODS,
  queryFrom,
  Visit,
  type ExportFormat,
  type HistogramPoint,
  type ListDescription,
  type PageResponse,
  type PageVisit,
} from '../../../infrastructure/pages/index.js';
import { cookieOf, PublicAddress, setCookie } from '../../../infrastructure/http/index.js';
import { documentedOperationAt } from '../../../infrastructure/openapi/index.js';
import { enumeration } from '../../../infrastructure/schemas/index.js';
import { Clock, DAY } from '../../../infrastructure/time/index.js';
import { EnumField } from '../../../infrastructure/validation/index.js';
import {
  REQUEST_LOG_COLUMNS,
  RequestLogPageQuery,
  type RequestLogEntryResponse,
  type SingleRequestLogEntryResponse,
} from '../request-logs.dto.js';
import { RequestLogOverviewService } from '../rollups/request-log-overview.service.js';
import { activeFilters } from '../storage/request-log-filter.js';
import { RequestLogsService } from '../reading/request-logs.service.js';
import { curlOfDelivery, curlOfRequest, curlOfToolCall, isToolCall } from './curl-command.js';
import { entryPage } from './request-log-entry.pages.js';
import {
  columnsPage,
  foundEntries,
  MAX_EXPORTED_ENTRIES,
  OPTIONAL_COLUMNS,
  requestLogList,
  type FilterOption,
  type OptionalColumn,
} from './request-logs.pages.js';
import { REQUEST_LOG_PERMISSIONS } from '../request-logs.capability.js';

const PERIOD = enumeration('Period', [...PERIODS.keys()].map(String), 'A period that ends now.');

/** The filters of the page, which also has relative periods. */
class PeriodQuery extends RequestLogPageQuery {
  @EnumField(PERIOD, { in: 'form', required: false })
  period?: string;
}

class ExportRequestLogsQuery extends RequestLogPageQuery {
  @ExportFormatField()
  format!: ExportFormat;
}

const COUNTED_FILTERS: ReadonlySet<string> = new Set(['type', 'operation', 'endpoint_id', 'event']);

/** With many columns, a page of fewer entries stays below 60 KB. */
const ENTRIES_OF_MANY_COLUMNS = 35;
const MANY_COLUMNS = 5;

const DEFAULT_COLUMNS: readonly OptionalColumn[] = ['latency', 'user'];
const COLUMNS_COOKIE = 'request_log_columns';
const COLUMNS_COOKIE_LIFETIME = 365 * DAY;
const COLUMN_SEPARATOR = '.';
/** Stands for a choice without columns, because an empty cookie is deleted. */
const NO_COLUMNS = 'none';

/** Returns the columns that the browser has chosen. */
function chosenColumns(request: Request): readonly OptionalColumn[] {
  const chosen = cookieOf(request, COLUMNS_COOKIE);
  return chosen === undefined ? DEFAULT_COLUMNS : knownColumns(chosen.split(COLUMN_SEPARATOR));
}

/** Port: the bodies of webhook events. */
export abstract class EventBodies {
  /** Returns the body of an event of the client, or undefined if the event does not exist or no longer exists. */
  abstract bodyOf(clientId: string, eventId: string): Promise<Buffer | undefined>;
}

/** Port: the endpoints and events that the filters of the log offer, and that its entries name. */
export abstract class WebhookFilterOptions {
  abstract endpointOptions(actor: DashboardActor, environment: PlatformEnvironment): Promise<FilterOption[]>;
  abstract eventOptions(): FilterOption[];
  /** Returns where an endpoint receives events now, as the user may see it; undefined if it was deleted. */
  abstract urlOf(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    id: string,
  ): Promise<string | undefined>;
}

@Controller(inEachEnvironment('request-logs'))
export class RequestLogsPage extends ListPage(REQUEST_LOG_PERMISSIONS.listRequestLogs, PeriodQuery) {
  @Inject() private readonly requestLogs!: RequestLogsService;
  @Inject() private readonly overviews!: RequestLogOverviewService;
  @Inject() private readonly clients!: AccessibleClients;
  @Inject() private readonly eventBodies!: EventBodies;
  @Inject() private readonly options!: WebhookFilterOptions;
  @Inject() private readonly address!: PublicAddress;
  @Inject() private readonly clock!: Clock;

  async describe(visit: PageVisit): Promise<ListDescription<RequestLogEntryResponse, PeriodQuery>> {
    const { actor, environment } = visit;
    const columns = chosenColumns(visit.request);
    const maxEntries = columns.length < MANY_COLUMNS ? Infinity : ENTRIES_OF_MANY_COLUMNS;
    const choices = {
      endpoints: await this.options.endpointOptions(actor, environment),
      events: this.options.eventOptions(),
    };
    return {
      ...requestLogList(visit, columns, choices),
      query: this.withPeriod(visit.query),
      rows: async (filters, limit) => {
        const query = { ...filters, limit: Math.min(limit, maxEntries) };
        const { data: entries, next_cursor: nextCursor } = await this.requestLogs.page(actor, query);
        const isEmpty = entries.length === 0 && query.cursor === undefined;
        const newestTime = isEmpty ? await this.requestLogs.newestTime(visit) : undefined;
        const points = entries.length > 0 ? await this.histogram(actor, query) : undefined;
        return foundEntries(visit, { query, entries, nextCursor, newestTime, points });
      },
    };
  }

  @Get('export/:format')
  @DashboardExport(REQUEST_LOG_PERMISSIONS.exportRequestLogs)
  export(@Visit() { actor, environment, params, query }: PageVisit<'format'>): Promise<StreamableFile> {
    const { format, ...filters } = queryFrom(ExportRequestLogsQuery, this.withPeriod(query), {
      environment,
      format: params.format,
    });
    return exportFile({
      format,
      name: `request-logs-${environment}`,
      organizationName: actor.organizationName,
      start: filters.start,
      end: filters.end,
      columns: REQUEST_LOG_COLUMNS,
      rows: this.requestLogs.newest(actor, filters, MAX_EXPORTED_ENTRIES),
    });
  }

  @Get('columns/choose')
  @DashboardPage(REQUEST_LOG_PERMISSIONS.listRequestLogs)
  startChoosingColumns(@Visit() { environment, request }: PageVisit): PageResponse {
    return columnsPage(environment, chosenColumns(request));
  }

  /** Saves the chosen columns, and returns to the list with its filters. */
  @Post('columns/choose')
  @DashboardAction(REQUEST_LOG_PERMISSIONS.listRequestLogs)
  chooseColumns(@Visit() { environment, form, response }: PageVisit): PageResponse {
    const columns = knownColumns(form.all('columns[]')).join(COLUMN_SEPARATOR) || NO_COLUMNS;
    const expires = new Date(this.clock.milliseconds() + COLUMNS_COOKIE_LIFETIME);
    setCookie(response, COLUMNS_COOKIE, columns, expires);
    const filters = form.get('filters');
    const list = dashboardPath(environment, 'request-logs');
    return { redirectTo: filters === undefined ? list : `${list}?${new URLSearchParams(filters)}` };
  }

  @Get(':id')
  @DashboardPage(REQUEST_LOG_PERMISSIONS.getRequestLog)
  async get(@Visit() { actor, environment, params }: PageVisit<'id'>): Promise<PageResponse> {
    const entry = await this.requestLogs.get(actor, params.id, environment);
    const { clientId } = await this.clients.forEnvironment(actor, environment);
    const body =
      entry.event_id === null ? undefined : await this.eventBodies.bodyOf(clientId, entry.event_id);
    const eventBody = body?.toString('utf8');
    const endpointUrl =
      entry.endpoint_id === null
        ? undefined
        : await this.options.urlOf(actor, environment, entry.endpoint_id);
    return entryPage({ environment, entry, eventBody, endpointUrl, curl: this.curlOf(entry, eventBody) });
  }

  /** The rollups know fewer values of the entries than the filters. */
  private async histogram(
    actor: DashboardActor,
    query: RequestLogPageQuery,
  ): Promise<HistogramPoint[] | undefined> {
    const others = activeFilters(query).filter(({ name }) => !COUNTED_FILTERS.has(name));
    if (others.length > 0) return undefined;
    const client = await this.clients.forEnvironment(actor, query.environment);
    const { type, operation, endpoint_id: target = operation, event, outcome } = query;
    const points = await this.overviews.histogram(client, query, { type, target, event });
    if (outcome === undefined) return points;
    const uncounted = outcome === 'failure' ? { succeeded: 0 } : { failed: 0, rejected: 0 };
    return points?.map((point) => ({ ...point, ...uncounted }));
  }

  private curlOf(entry: SingleRequestLogEntryResponse, eventBody: string | undefined): string {
    if (entry.type === 'webhook') return curlOfDelivery(entry, eventBody);
    if (isToolCall(entry)) return curlOfToolCall(entry, this.address.of('connector'));
    const operation = documentedOperationAt(entry.method, entry.path ?? '');
    return curlOfRequest(entry, this.address.of(operation?.surface ?? 'platform'), operation);
  }

  /** Replaces a relative period by times. */
  private withPeriod({ period, ...filters }: PageVisit['query']): PageVisit['query'] {
    const length = PERIODS.get(period)?.length;
    if (length === undefined || filters['start'] || filters['end']) return filters;
    const now = this.clock.now();
    return { ...filters, start: new Date(now.getTime() - length).toISOString(), end: now.toISOString() };
  }
}

function knownColumns(names: readonly string[]): OptionalColumn[] {
  return OPTIONAL_COLUMNS.filter((column) => names.includes(column));
}
