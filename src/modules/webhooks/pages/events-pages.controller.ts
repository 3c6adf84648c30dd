import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import {
  DashboardAction,
  DashboardPage,
  inEachEnvironment,
  FormBody,
  PageEnvironment,
  type PageResponse,
} from '../../../infrastructure/pages/index.js';
import { EventsPagesService } from './events-pages.service.js';

@Controller(inEachEnvironment('events'))
export class EventsPagesController {
  constructor(private readonly pages: EventsPagesService) {}

  @Get()
  @DashboardPage('listRequestLogs')
  list(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Query() query: Record<string, string>,
  ): Promise<PageResponse> {
    return this.pages.list(actor, environment, query);
  }

  @Get(':id')
  @DashboardPage('listRequestLogs')
  get(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
  ): Promise<PageResponse> {
    return this.pages.get(actor, environment, id);
  }

  @Post(':id')
  @DashboardAction('redeliverWebhook')
  sendAgain(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    return this.pages.sendAgain(actor, environment, id, form);
  }
}
