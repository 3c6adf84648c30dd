import { randomUUID } from 'node:crypto';
import { Controller, Get, Post } from '@nestjs/common';
import {
  DashboardAction,
  DashboardPage,
  dashboardPath,
  inEachEnvironment,
  queryFrom,
  requestFrom,
  submitted,
  timestampFrom,
  Visit,
  type PageResponse,
  type PageVisit,
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
import { ResendQuery } from '../resends/resends.dto.js';
import { ResendsService } from '../resends/resends.service.js';
import { recoveryPage, testPage } from './endpoint-actions.pages.js';
import { QUERY_FIELD, RESEND_ID_FIELD, resendPage, resendPlanPage } from './resend.pages.js';

/** The pages that send a test to an endpoint, and events again. */
@Controller(inEachEnvironment())
export class DeliveryPagesController {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly deliveries: DeliveriesService,
    private readonly resends: ResendsService,
  ) {}

  @Get('webhook-endpoints/:id/test')
  @DashboardPage('testWebhookEndpoint')
  startTest(@Visit(EndpointPipe) { endpoint }: EndpointVisit): PageResponse {
    return testPage(endpoint);
  }

  @Post('webhook-endpoints/:id/test')
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

  @Get('webhook-endpoints/:id/recover')
  @DashboardPage('getWebhookRecovery')
  startRecovering(@Visit(EndpointPipe) visit: EndpointVisit): Promise<PageResponse> {
    return this.recoveryPage(visit);
  }

  @Post('webhook-endpoints/:id/recover')
  @DashboardAction('recoverWebhooks')
  recover(@Visit(EndpointPipe) visit: EndpointVisit): Promise<PageResponse> {
    const { actor, environment, endpoint, form } = visit;
    const since = form.get('since');
    return submitted(
      async () => {
        const request = requestFrom(RecoverRequest, form, { since: timestampFrom(since, form.get('zone')) });
        await this.resends.recover(actor, endpoint.id, new Date(request.since));
        return { redirectTo: `${endpointPath(environment, endpoint.id)}/recover?done=started&live=on` };
      },
      () => this.recoveryPage(visit, since),
    );
  }

  @Get('events/failed/send-again')
  @DashboardPage('redeliverWebhook')
  plan(@Visit() visit: PageVisit): Promise<PageResponse> {
    return submitted(
      () => this.planPage(visit, visit.query),
      () => resendPlanPage(visit.environment, undefined, '', visit.query),
    );
  }

  @Post('events/failed/send-again')
  @DashboardAction('redeliverWebhook')
  start(@Visit() visit: PageVisit): Promise<PageResponse> {
    const { actor, environment, form } = visit;
    const query = Object.fromEntries(new URLSearchParams(form.get(QUERY_FIELD)));
    const id = form.get(RESEND_ID_FIELD) ?? '';
    return submitted(
      async () => {
        await this.resends.start(actor, environment, id, resendQuery(visit, query));
        return { redirectTo: `${dashboardPath(environment, 'events', 'resends', id)}?done=started&live=on` };
      },
      () => this.planPage(visit, query),
    );
  }

  @Get('events/resends/:id')
  @DashboardPage('getWebhookRecovery')
  async get(@Visit() { actor, environment, params }: PageVisit<'id'>): Promise<PageResponse> {
    return resendPage(environment, await this.resends.get(actor, environment, params.id));
  }

  private async recoveryPage(
    { actor, params: { id } }: EndpointVisit,
    since?: string,
  ): Promise<PageResponse> {
    const endpoint = await this.endpoints.get(actor, id);
    return recoveryPage({ endpoint, recovery: await this.resends.lastRecovery(actor, id), since });
  }

  private async planPage(visit: PageVisit, query: PageVisit['query']): Promise<PageResponse> {
    const { actor, environment } = visit;
    const plan = await this.resends.plan(actor, environment, resendQuery(visit, query));
    return resendPlanPage(environment, plan, randomUUID(), visit.query);
  }
}

function resendQuery({ environment }: PageVisit, query: PageVisit['query']): ResendQuery {
  const { selected, from: _, ...filters } = query;
  // A list sends one parameter for each selected row.
  const selection = selected === undefined ? {} : { selected: [selected].flat().join(',') };
  return queryFrom(ResendQuery, filters, { environment, ...selection });
}
