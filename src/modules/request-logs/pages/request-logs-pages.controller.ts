import { Controller, Get, Post, type StreamableFile } from '@nestjs/common';
import { AccessibleClients, type DashboardActor } from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import {
  DashboardAction,
  DashboardExport,
  DashboardPage,
  dashboardPath,
  exportFile,
  ExportFormatField,
  FEWER_ROWS_PER_PAGE,
  inEachEnvironment,
  PERIODS,
  queryFrom,
  submitted,
  Visit,
  type ExportFormat,
  type Page,
  type PageResponse,
  type PageVisit,
} from '../../../infrastructure/pages/index.js';
import { cookieOf, PublicAddress, requestParameter, setCookie } from '../../../infrastructure/http/index.js';
import { enumeration } from '../../../infrastructure/schemas/index.js';
import { Clock, DAY } from '../../../infrastructure/time/index.js';
import { EnumField } from '../../../infrastructure/validation/index.js';
import {
  ListRequestLogsQuery,
  REQUEST_LOG_COLUMNS,
  type SingleRequestLogEntryResponse,
} from '../reading/request-logs.dto.js';
import { RequestLogsService } from '../reading/request-logs.service.js';
import { curlOfDelivery, curlOfRequest, curlOfToolCall, isToolCall } from './curl-command.js';
import { entryPage } from './request-log-entry.pages.js';
import {
  columnsPage,
  listPage,
  MAX_EXPORTED_ENTRIES,
  OPTIONAL_COLUMNS,
  type FilterOption,
  type FoundEntries,
  type OptionalColumn,
} from './request-logs.pages.js';

const PERIOD = enumeration('Period', [...PERIODS.keys()].map(String), 'A period that ends now.');

/** The filters of the page, which also has relative periods. */
class RequestLogPageQuery extends ListRequestLogsQuery {
  @EnumField(PERIOD, { in: 'form', required: false })
  period?: string;
}

class ExportRequestLogsQuery extends ListRequestLogsQuery {
  @ExportFormatField()
  format!: ExportFormat;
}

const ENTRIES_PER_PAGE = 50;
/** With many columns, a page of fewer entries stays below 60 KB. */
const ENTRIES_OF_MANY_COLUMNS = 35;
const MANY_COLUMNS = 5;

const DEFAULT_COLUMNS: readonly OptionalColumn[] = ['latency', 'user'];
const COLUMNS_COOKIE = 'request_log_columns';
const COLUMNS_COOKIE_LIFETIME = 365 * DAY;
const COLUMN_SEPARATOR = '.';
/** Stands for a choice without columns, because an empty cookie is deleted. */
const NO_COLUMNS = 'none';

/** Handler parameter: the columns that the browser has chosen. */
const ChosenColumns = requestParameter((request): readonly OptionalColumn[] => {
  const chosen = cookieOf(request, COLUMNS_COOKIE);
  return chosen === undefined ? DEFAULT_COLUMNS : knownColumns(chosen.split(COLUMN_SEPARATOR));
});

/** Port: the bodies of webhook events. */
export abstract class EventBodies {
  /** Returns the body of an event of the client, or undefined if the event does not exist or no longer exists. */
  abstract bodyOf(clientId: string, eventId: string): Promise<Buffer | undefined>;
}

/** Port: the endpoints and events that the filters of the log offer. */
export abstract class WebhookFilterOptions {
  abstract endpointOptions(actor: DashboardActor, environment: PlatformEnvironment): Promise<FilterOption[]>;
  abstract eventOptions(): FilterOption[];
}

@Controller(inEachEnvironment('request-logs'))
export class RequestLogsPagesController {
  constructor(
    private readonly requestLogs: RequestLogsService,
    private readonly clients: AccessibleClients,
    private readonly eventBodies: EventBodies,
    private readonly options: WebhookFilterOptions,
    private readonly address: PublicAddress,
    private readonly clock: Clock,
  ) {}

  @Get()
  @DashboardPage('listRequestLogs', RequestLogPageQuery)
  async list(
    @Visit() visit: PageVisit,
    @ChosenColumns() columns: readonly OptionalColumn[],
  ): Promise<PageResponse> {
    const choices = {
      endpoints: await this.options.endpointOptions(visit.actor, visit.environment),
      events: this.options.eventOptions(),
    };
    const limit = columns.length < MANY_COLUMNS ? ENTRIES_PER_PAGE : ENTRIES_OF_MANY_COLUMNS;
    const pageOf = async (entries: number): Promise<Page> =>
      listPage(columns, choices, await this.find(visit, entries));
    return submitted(
      async () => ({ ...(await pageOf(limit)), withFewerRows: () => pageOf(FEWER_ROWS_PER_PAGE) }),
      () => listPage(columns, choices),
    );
  }

  @Get('export/:format')
  @DashboardExport('exportRequestLogs')
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
  @DashboardPage('listRequestLogs')
  startChoosingColumns(
    @Visit() { environment }: PageVisit,
    @ChosenColumns() columns: readonly OptionalColumn[],
  ): PageResponse {
    return columnsPage(environment, columns);
  }

  /** Saves the chosen columns, and returns to the list with its filters. */
  @Post('columns/choose')
  @DashboardAction('listRequestLogs')
  chooseColumns(@Visit() { environment, form, response }: PageVisit): PageResponse {
    const columns = knownColumns(form.all('columns[]')).join(COLUMN_SEPARATOR) || NO_COLUMNS;
    const expires = new Date(this.clock.milliseconds() + COLUMNS_COOKIE_LIFETIME);
    setCookie(response, COLUMNS_COOKIE, columns, expires);
    const filters = form.get('filters');
    const list = dashboardPath(environment, 'request-logs');
    return { redirectTo: filters === undefined ? list : `${list}?${new URLSearchParams(filters)}` };
  }

  @Get(':id')
  @DashboardPage('getRequestLog')
  async get(@Visit() { actor, environment, params }: PageVisit<'id'>): Promise<PageResponse> {
    const entry = await this.requestLogs.get(actor, params.id, environment);
    const { clientId } = await this.clients.forEnvironment(actor, environment);
    const body =
      entry.event_id === null ? undefined : await this.eventBodies.bodyOf(clientId, entry.event_id);
    const eventBody = body?.toString('utf8');
    return entryPage({ environment, entry, eventBody, curl: this.curlOf(entry, eventBody) });
  }

  private curlOf(entry: SingleRequestLogEntryResponse, eventBody: string | undefined): string {
    if (entry.type === 'webhook') return curlOfDelivery(entry, eventBody);
    if (isToolCall(entry)) return curlOfToolCall(entry, this.address.of('connector'));
    return curlOfRequest(entry, this.address.of('platform'));
  }

  private async find(visit: PageVisit, limit: number): Promise<FoundEntries> {
    const query = queryFrom(ListRequestLogsQuery, this.withPeriod(visit.query), {
      environment: visit.environment,
      limit,
    });
    const { data, next_cursor } = await this.requestLogs.page(visit.actor, query);
    const isEmpty = data.length === 0 && query.cursor === undefined;
    const newestTime = isEmpty ? await this.requestLogs.newestTime(visit) : undefined;
    return { query, entries: data, nextCursor: next_cursor, newestTime };
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
