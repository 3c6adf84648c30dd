import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { AccessibleClients, type DashboardActor } from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { dashboardPath, PageEnvironments, type PageResponse } from '../../infrastructure/pages/index.js';
import { RequestLogOverviewService, type OverviewPeriod } from '../request-logs/index.js';
import { WebhookEndpointsService } from '../webhooks/index.js';
import { overviewPage } from './overview.pages.js';

/** The first page of the dashboard. */
@Injectable()
export class OverviewPagesService {
  constructor(
    private readonly clients: AccessibleClients,
    private readonly environments: PageEnvironments,
    private readonly overviews: RequestLogOverviewService,
    private readonly endpoints: WebhookEndpointsService,
  ) {}

  home(request: Request): PageResponse {
    return { redirectTo: dashboardPath(this.environments.of(request)) };
  }

  /** @param wanted the period in the query; the last 24 hours if it is not `7d` */
  async overview(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    wanted: unknown,
  ): Promise<PageResponse> {
    const period: OverviewPeriod = wanted === '7d' ? '7d' : '24h';
    const client = await this.clients.forEnvironment(actor, environment);
    const [overview, { data: endpoints }] = await Promise.all([
      this.overviews.overview({ client, period }),
      this.endpoints.list(actor, environment),
    ]);
    return overviewPage({ environment, period, overview, endpoints });
  }
}
