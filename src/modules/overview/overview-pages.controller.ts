import { Controller, Get, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { AccessibleClients, CurrentActor, type DashboardActor } from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import {
  dashboardPath,
  DashboardPage,
  inEachEnvironment,
  PageEnvironment,
  PageEnvironments,
  PageRoute,
  type PageResponse,
} from '../../infrastructure/pages/index.js';
import { RequestLogOverviewService } from '../request-logs/index.js';
import { WebhookEndpointsService } from '../webhooks/index.js';
import { overviewPage } from './overview.pages.js';

@Controller()
export class OverviewPagesController {
  constructor(
    private readonly clients: AccessibleClients,
    private readonly environments: PageEnvironments,
    private readonly overviews: RequestLogOverviewService,
    private readonly endpoints: WebhookEndpointsService,
  ) {}

  @Get('dashboard')
  @PageRoute({ login: true })
  home(@Req() request: Request): PageResponse {
    return { redirectTo: dashboardPath(this.environments.of(request)) };
  }

  /** @param wanted the period in the query; the last 24 hours if it is not `7d` */
  @Get(inEachEnvironment())
  @DashboardPage('listRequestLogs')
  async overview(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Query('period') wanted: unknown,
  ): Promise<PageResponse> {
    const period = wanted === '7d' ? '7d' : '24h';
    const client = await this.clients.forEnvironment(actor, environment);
    const [overview, { data: endpoints }] = await Promise.all([
      this.overviews.overview({ client, period }),
      this.endpoints.list(actor, environment),
    ]);
    return overviewPage({ environment, period, overview, endpoints });
  }
}
