import { Controller, Get, Post } from '@nestjs/common';
import {
  DashboardAction,
  DashboardPage,
  inEachEnvironment,
  requestFrom,
  Visit,
  type PageResponse,
} from '../../../infrastructure/pages/index.js';
import { RecentDeliveries } from '../recent-deliveries.js';
import { UpdateWebhookEndpointRequest } from '../webhook-endpoints.dto.js';
import { WebhookEndpointsService } from '../webhook-endpoints.service.js';
import { endpointPath } from './endpoint-parts.pages.js';
import { endpointPage } from './endpoint.pages.js';
import { EndpointPipe, type EndpointVisit } from './endpoint.pipe.js';

/** The page about one webhook endpoint. */
@Controller(inEachEnvironment('webhook-endpoints/:id'))
export class EndpointPageController {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly recentDeliveries: RecentDeliveries,
  ) {}

  @Get()
  @DashboardPage('getWebhookEndpoint')
  async get(@Visit(EndpointPipe) { actor, endpoint }: EndpointVisit): Promise<PageResponse> {
    const [response, activity] = await Promise.all([
      this.endpoints.get(actor, endpoint.id),
      this.recentDeliveries.of(actor, endpoint),
    ]);
    return endpointPage(response, activity);
  }

  @Post('status')
  @DashboardAction('updateWebhookEndpoint')
  async setStatus(
    @Visit(EndpointPipe) { actor, environment, endpoint, form }: EndpointVisit,
  ): Promise<PageResponse> {
    const { status } = requestFrom(UpdateWebhookEndpointRequest, form);
    await this.endpoints.update(actor, endpoint.id, { status });
    const done = status === 'paused' ? 'paused' : endpoint.disabledAt ? 'enabled' : 'resumed';
    return { redirectTo: `${endpointPath(environment, endpoint.id)}?done=${done}` };
  }
}
