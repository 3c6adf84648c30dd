import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import {
  DashboardAction,
  DashboardPage,
  dashboardPath,
  FormBody,
  inEachEnvironment,
  PageEnvironment,
  queryFrom,
  requestFrom,
  submitted,
  type PageResponse,
} from '../../../infrastructure/pages/index.js';
import { WebhookEndpointsService } from '../endpoints/webhook-endpoints.service.js';
import { RedeliverRequest } from '../deliveries/deliveries.dto.js';
import { DeliveriesService } from '../deliveries/deliveries.service.js';
import { ListEventsQuery } from '../events/published-events.dto.js';
import { PublishedEventsService } from '../events/published-events.service.js';
import { eventPage, eventsPage } from './events.pages.js';

/** The pages about published events and their deliveries. */
@Controller(inEachEnvironment('events'))
export class EventsPagesController {
  constructor(
    private readonly events: PublishedEventsService,
    private readonly endpoints: WebhookEndpointsService,
    private readonly deliveries: DeliveriesService,
  ) {}

  @Get()
  @DashboardPage('listRequestLogs')
  list(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Query() query: Readonly<Record<string, string>>,
  ): Promise<PageResponse> {
    return submitted(
      async () => {
        const page = await this.events.page(actor, environment, queryFrom(ListEventsQuery, query));
        return eventsPage(environment, page);
      },
      (problem) => eventsPage(environment, { data: [], nextCursor: null }, problem),
    );
  }

  @Get(':id')
  @DashboardPage('listRequestLogs')
  get(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
  ): Promise<PageResponse> {
    return this.eventPage(actor, environment, id);
  }

  @Post(':id')
  @DashboardAction('redeliverWebhook')
  async sendAgain(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    const endpointId = form.get('endpoint_id') ?? '';
    await this.endpoints.requireIn(actor, environment, endpointId);
    const { event_id: eventId } = requestFrom(RedeliverRequest, form, { event_id: id });
    return submitted(
      async () => {
        const { queued } = await this.deliveries.redeliver(actor, endpointId, eventId);
        const done = queued === 0 ? 'waiting' : 'queued';
        return { redirectTo: `${dashboardPath(environment, 'events', id)}?done=${done}&live=on` };
      },
      (problem) => this.eventPage(actor, environment, id, problem),
    );
  }

  /** @param problem why the event could not be sent again */
  private async eventPage(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    id: string,
    problem?: string,
  ): Promise<PageResponse> {
    const [event, { data }] = await Promise.all([
      this.events.get(actor, environment, id),
      this.endpoints.list(actor, environment),
    ]);
    return eventPage(environment, event, data, problem);
  }
}
