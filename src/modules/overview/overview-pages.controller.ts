import { Controller, Get, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { CurrentActor, type DashboardActor } from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import {
  DashboardPage,
  inEachEnvironment,
  PageEnvironment,
  PageRoute,
  type PageResponse,
} from '../../infrastructure/pages/index.js';
import { OverviewPagesService } from './overview-pages.service.js';

@Controller()
export class OverviewPagesController {
  constructor(private readonly pages: OverviewPagesService) {}

  @Get('dashboard')
  @PageRoute({ login: true })
  home(@Req() request: Request): PageResponse {
    return this.pages.home(request);
  }

  @Get(inEachEnvironment())
  @DashboardPage('listRequestLogs')
  overview(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Query('period') period: unknown,
  ): Promise<PageResponse> {
    return this.pages.overview(actor, environment, period);
  }
}
