import { Injectable, type StreamableFile } from '@nestjs/common';
import type { Response } from 'express';
import { AccessibleClients, type DashboardActor } from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { ReadPools } from '../../../infrastructure/database/index.js';
import { ApiError, INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import { exportFile } from '../../../infrastructure/exports/index.js';
import { PublicAddress, type FormFields } from '../../../infrastructure/http/index.js';
import { dashboardPath, type PageResponse } from '../../../infrastructure/pages/index.js';
import { INVALID_CURSOR_FORMAT } from '../../../infrastructure/paging/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { REQUEST_LOG_COLUMNS } from '../reading/request-log-response.js';
import { RequestLogsService } from '../reading/request-logs.service.js';
import type { SingleRequestLogEntryResponse } from '../reading/request-logs.dto.js';
import { REQUEST_LOG_QUERY_TIMEOUT } from '../request-log-errors.js';
import { curlOfDelivery, curlOfRequest, curlOfToolCall, isToolCall } from './curl-command.js';
import { EventBodies } from './event-bodies.js';
import { ListColumns, type OptionalColumn } from './list-columns.js';
import { exportQuery, listQuery, type PageQuery } from './list-parameters.js';
import { entryPage } from './request-log-entry.pages.js';
import { listPage, MAX_EXPORTED_ENTRIES, type FoundEntries } from './request-logs.pages.js';

/** Errors that the list explains next to its filters, because other filters help. */
const EXPLAINED_ERRORS: readonly string[] = [
  INVALID_FIELD,
  INVALID_CURSOR_FORMAT,
  REQUEST_LOG_QUERY_TIMEOUT,
].map(({ code }) => code);

/** The pages about the request log. */
@Injectable()
export class RequestLogsPagesService {
  constructor(
    private readonly requestLogs: RequestLogsService,
    private readonly clients: AccessibleClients,
    private readonly eventBodies: EventBodies,
    private readonly columns: ListColumns,
    private readonly address: PublicAddress,
    private readonly pools: ReadPools,
    private readonly clock: Clock,
  ) {}

  async list(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    query: PageQuery,
    columns: readonly OptionalColumn[],
  ): Promise<PageResponse> {
    try {
      return listPage({ environment, columns, found: await this.find(actor, environment, query) });
    } catch (error) {
      if (!(error instanceof ApiError) || !EXPLAINED_ERRORS.includes(error.code)) throw error;
      return { ...listPage({ environment, columns, problem: error.message }), status: error.status };
    }
  }

  async export(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    query: PageQuery,
  ): Promise<StreamableFile> {
    const { format, ...filters } = exportQuery(environment, query, this.clock.now());
    return exportFile({
      format,
      name: `request-logs-${environment}`,
      columns: REQUEST_LOG_COLUMNS,
      rows: this.requestLogs.newest(actor, filters, MAX_EXPORTED_ENTRIES),
    });
  }

  /** Saves the chosen columns, and returns to the list with its filters. */
  chooseColumns(environment: PlatformEnvironment, form: FormFields, response: Response): PageResponse {
    this.columns.choose(response, form.all('columns[]'));
    const filters = form.get('filters');
    const list = dashboardPath(environment, 'request-logs');
    return { redirectTo: filters === undefined ? list : `${list}?${new URLSearchParams(filters)}` };
  }

  async get(actor: DashboardActor, environment: PlatformEnvironment, id: string): Promise<PageResponse> {
    const entry = await this.requestLogs.get(actor, id, environment);
    const eventBody = await this.bodyOf(actor, environment, entry);
    const curl = this.curlOf(entry, eventBody);
    return entryPage({ environment, entry, eventBody, curl });
  }

  private curlOf(entry: SingleRequestLogEntryResponse, eventBody: string | undefined): string {
    if (entry.type === 'webhook') return curlOfDelivery(entry, eventBody);
    if (isToolCall(entry)) return curlOfToolCall(entry, this.address.of('connector'));
    return curlOfRequest(entry, this.address.of('platform'));
  }

  private async find(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    pageQuery: PageQuery,
  ): Promise<FoundEntries> {
    const query = listQuery(environment, pageQuery, this.clock.now());
    const { clientId } = await this.clients.forEnvironment(actor, environment);
    const secondsOld = this.pools.secondsBehindFor(clientId);
    const { data, next_cursor } = await this.requestLogs.page(actor, query);
    const isEmpty = data.length === 0 && query.cursor === undefined;
    const newestTime = isEmpty ? await this.requestLogs.newestTime(actor, environment) : undefined;
    return { query, entries: data, nextCursor: next_cursor, newestTime, secondsOld };
  }

  private async bodyOf(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    { event_id }: SingleRequestLogEntryResponse,
  ): Promise<string | undefined> {
    if (event_id === null) return undefined;
    const { clientId } = await this.clients.forEnvironment(actor, environment);
    return (await this.eventBodies.bodyOf(clientId, event_id))?.toString('utf8');
  }
}
