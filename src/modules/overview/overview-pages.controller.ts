import { Controller, Get, Req } from '@nestjs/common';
import type { Request } from 'express';
import { AccessibleClients } from '../../infrastructure/auth/index.js';
import {
  dashboardPath,
  DashboardPage,
  inEachEnvironment,
  PageEnvironments,
  PageRoute,
  Visit,
  type PageResponse,
  type PageVisit,
} from '../../infrastructure/pages/index.js';
import { OVERVIEW_PERIODS, RequestLogOverviewService } from '../request-logs/index.js';
import { WebhookEndpointsService } from '../webhooks/index.js';
import { operationsIn, overviewPage } from './overview.pages.js';

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

  /** Shows the last 24 hours, or the period in the query. */
  @Get(inEachEnvironment())
  @DashboardPage('listRequestLogs')
  async overview(@Visit() { actor, environment, query }: PageVisit): Promise<PageResponse> {
    const period = OVERVIEW_PERIODS.find((each) => each === query['period']) ?? '24h';
    const client = await this.clients.forEnvironment(actor, environment);
    const [overview, { data: endpoints }] = await Promise.all([
      this.overviews.overview({ client, period }),
      this.endpoints.list(actor, environment),
    ]);
    const operations = operationsIn(overview);
    const trends = await this.overviews.trends({ client, period, type: 'request', targets: operations });
    return overviewPage({ environment, period, overview, endpoints, trends });
  }
}
