import { Controller, Get, Post } from '@nestjs/common';
import {
  DashboardAction,
  DashboardPage,
  inEachEnvironment,
  requestFrom,
  submitted,
  timestampFrom,
  Visit,
  type PageResponse,
} from '../../../infrastructure/pages/index.js';
import { OutsideOrganizationQueue } from '../../../infrastructure/surfaces/index.js';
import {
  EndpointPipe,
  endpointPath,
  WebhookEndpointsService,
  type EndpointVisit,
} from '../../webhook-endpoints/index.js';
import { RecoverRequest, TestWebhookEndpointRequest } from '../deliveries/deliveries.dto.js';
import { DeliveriesService } from '../deliveries/deliveries.service.js';
import { RecoveriesService } from '../recoveries/recoveries.service.js';
import { recoveryPage, testPage } from './endpoint-actions.pages.js';

/** The pages that send a test to an endpoint, and recover its events. */
@Controller(inEachEnvironment('webhook-endpoints'))
export class DeliveryPagesController {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly deliveries: DeliveriesService,
    private readonly recoveries: RecoveriesService,
  ) {}

  @Get(':id/test')
  @DashboardPage('testWebhookEndpoint')
  startTest(@Visit(EndpointPipe) { endpoint }: EndpointVisit): PageResponse {
    return testPage(endpoint);
  }

  @Post(':id/test')
  @DashboardAction('testWebhookEndpoint')
  @OutsideOrganizationQueue()
  test(@Visit(EndpointPipe) { actor, endpoint, form }: EndpointVisit): Promise<PageResponse> {
    return submitted(
      async () => {
        const { event } = requestFrom(TestWebhookEndpointRequest, form);
        return testPage(endpoint, event, await this.deliveries.test(actor, endpoint.id, event));
      },
      () => testPage(endpoint),
    );
  }

  @Get(':id/recover')
  @DashboardPage('getWebhookRecovery')
  startRecovering(@Visit(EndpointPipe) visit: EndpointVisit): Promise<PageResponse> {
    return this.recoveryPage(visit);
  }

  @Post(':id/recover')
  @DashboardAction('recoverWebhooks')
  recover(@Visit(EndpointPipe) visit: EndpointVisit): Promise<PageResponse> {
    const { actor, environment, endpoint, form } = visit;
    const since = form.get('since');
    return submitted(
      async () => {
        const request = requestFrom(RecoverRequest, form, { since: timestampFrom(since, form.get('zone')) });
        await this.recoveries.request(actor, endpoint.id, new Date(request.since));
        return { redirectTo: `${endpointPath(environment, endpoint.id)}/recover?done=started&live=on` };
      },
      () => this.recoveryPage(visit, since),
    );
  }

  private async recoveryPage(
    { actor, params: { id } }: EndpointVisit,
    since?: string,
  ): Promise<PageResponse> {
    const endpoint = await this.endpoints.get(actor, id);
    return recoveryPage({ endpoint, recovery: await this.recoveries.get(actor, id), since });
  }
}
