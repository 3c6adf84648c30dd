import { Controller, Get, Param, Post, Query, Res, type StreamableFile } from '@nestjs/common';
import type { Response } from 'express';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import {
  DashboardAction,
  DashboardExport,
  DashboardPage,
  FormBody,
  inEachEnvironment,
  PageEnvironment,
  type PageResponse,
} from '../../../infrastructure/pages/index.js';
import { ChosenColumns, type OptionalColumn } from './list-columns.js';
import type { PageQuery } from './list-parameters.js';
import { RequestLogsPagesService } from './request-logs-pages.service.js';
import { columnsPage } from './request-logs.pages.js';

@Controller(inEachEnvironment('request-logs'))
export class RequestLogsPagesController {
  constructor(private readonly pages: RequestLogsPagesService) {}

  @Get()
  @DashboardPage('listRequestLogs')
  list(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Query() query: PageQuery,
    @ChosenColumns() columns: readonly OptionalColumn[],
  ): Promise<PageResponse> {
    return this.pages.list(actor, environment, query, columns);
  }

  @Get('export/:format')
  @DashboardExport('listRequestLogs', { action: 'request_log.export' })
  export(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('format') format: string,
    @Query() query: PageQuery,
  ): Promise<StreamableFile> {
    return this.pages.export(actor, environment, { ...query, format });
  }

  @Get('columns/choose')
  @DashboardPage('listRequestLogs')
  startChoosingColumns(
    @PageEnvironment() environment: PlatformEnvironment,
    @ChosenColumns() columns: readonly OptionalColumn[],
  ): PageResponse {
    return columnsPage(environment, columns);
  }

  @Post('columns/choose')
  @DashboardAction('listRequestLogs')
  chooseColumns(
    @PageEnvironment() environment: PlatformEnvironment,
    @FormBody() form: FormFields,
    @Res({ passthrough: true }) response: Response,
  ): PageResponse {
    return this.pages.chooseColumns(environment, form, response);
  }

  @Get(':id')
  @DashboardPage('getRequestLog')
  get(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
  ): Promise<PageResponse> {
    return this.pages.get(actor, environment, id);
  }
}
