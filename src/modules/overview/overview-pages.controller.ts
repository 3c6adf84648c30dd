import { Controller, Get, Req } from '@nestjs/common';
import type { Request } from 'express';
import { AccessibleClients } from '../../infrastructure/auth/index.js';
import {
  dashboardPath,
  DashboardPage,
  inEachEnvironment,
  PageEnvironments,
  PageRoute,
  queryFrom,
  submitted,
  Visit,
  type PageResponse,
  type PageVisit,
} from '../../infrastructure/pages/index.js';
import {
  OVERVIEW_PERIODS,
  OverviewQuery,
  RequestLogOverviewService,
  type OverviewPeriod,
} from '../request-logs/index.js';
import { WebhookEndpointsService } from '../webhook-endpoints/index.js';
import { PublishedEventsService } from '../webhooks/index.js';
import { overviewPage, targetsIn } from './overview.pages.js';

const LISTENING = 'GET /development/webhooks/stream';

@Controller()
export class OverviewPagesController {
  constructor(
    private readonly clients: AccessibleClients,
    private readonly environments: PageEnvironments,
    private readonly overviews: RequestLogOverviewService,
    private readonly endpoints: WebhookEndpointsService,
    private readonly events: PublishedEventsService,
  ) {}

  @Get('dashboard')
  @PageRoute({ login: true })
  home(@Req() request: Request): PageResponse {
    return { redirectTo: dashboardPath(this.environments.of(request)) };
  }

  /** Shows the last 24 hours, the period that the query names, or that between two times. */
  @Get(inEachEnvironment())
  @DashboardPage('listRequestLogs')
  async overview(@Visit() visit: PageVisit): Promise<PageResponse> {
    const { actor, environment, query } = visit;
    const client = await this.clients.forEnvironment(actor, environment);
    const { data: endpoints } = await this.endpoints.list(actor, environment);
    return submitted(
      async () => {
        const period = periodOf(query);
        const overview = await this.overviews.overview({ client, period });
        const trends = await this.overviews.trends({ client, period, targets: targetsIn(overview) });
        // The log has no entry for an event that a listener received.
        const { requests, deliveries } = overview;
        const hasListened =
          deliveries.total === 0 &&
          requests.operations.some(({ operation }) => operation === LISTENING) &&
          (await this.events.count(visit, { limit: 1 })) > 0;
        return overviewPage({ environment, endpoints, overview, trends, hasListened });
      },
      () => overviewPage({ environment, endpoints }),
    );
  }
}

function periodOf({ period, start, end, zone }: PageVisit['query']): OverviewPeriod | OverviewQuery {
  if (start || end) return queryFrom(OverviewQuery, { start, end, zone });
  return OVERVIEW_PERIODS.find((each) => each === period) ?? '24h';
}
