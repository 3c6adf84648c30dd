import { Controller, Get, Query } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import {
  DashboardPage,
  inEachEnvironment,
  LastEnvironment,
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
  home(@LastEnvironment() environment: PlatformEnvironment): PageResponse {
    return this.pages.home(environment);
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
