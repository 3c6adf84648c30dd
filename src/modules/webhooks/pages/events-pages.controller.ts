import { Controller, Get, Post } from '@nestjs/common';
import {
  DashboardAction,
  DashboardPage,
  dashboardPath,
  inEachEnvironment,
  queryFrom,
  requestFrom,
  submitted,
  Visit,
  type PageResponse,
  type PageVisit,
} from '../../../infrastructure/pages/index.js';
import { WebhookEndpointsService } from '../../webhook-endpoints/index.js';
import { RedeliverRequest } from '../deliveries/deliveries.dto.js';
import { ListEventsQuery } from '../events/published-events.dto.js';
import { PublishedEventsService } from '../events/published-events.service.js';
import { ResendsService } from '../resends/resends.service.js';
import { eventPage, eventsPage } from './events.pages.js';

/** The pages about published events and their deliveries. */
@Controller(inEachEnvironment('events'))
export class EventsPagesController {
  constructor(
    private readonly events: PublishedEventsService,
    private readonly endpoints: WebhookEndpointsService,
    private readonly resends: ResendsService,
  ) {}

  @Get()
  @DashboardPage('listRequestLogs', ListEventsQuery)
  list(@Visit() { actor, environment, query }: PageVisit): Promise<PageResponse> {
    return submitted(
      async () => {
        const page = await this.events.page(actor, environment, queryFrom(ListEventsQuery, query));
        return eventsPage(page);
      },
      () => eventsPage(),
    );
  }

  @Get(':event_id')
  @DashboardPage('listRequestLogs')
  get(@Visit() visit: PageVisit<'event_id'>): Promise<PageResponse> {
    return this.eventPage(visit);
  }

  @Post(':event_id')
  @DashboardAction('redeliverWebhook')
  async sendAgain(@Visit() visit: PageVisit<'event_id'>): Promise<PageResponse> {
    const { actor, environment, form } = visit;
    const { event_id: id } = visit.params;
    const endpointId = form.get('endpoint_id') ?? '';
    await this.endpoints.requireIn(actor, environment, endpointId);
    const { event_id: eventId } = requestFrom(RedeliverRequest, form, { event_id: id });
    return submitted(
      async () => {
        const { queued } = await this.resends.redeliver(actor, endpointId, eventId);
        const done = queued === 0 ? 'waiting' : 'queued';
        return { redirectTo: `${dashboardPath(environment, 'events', id)}?done=${done}&live=on` };
      },
      () => this.eventPage(visit),
    );
  }

  private async eventPage({ actor, environment, params }: PageVisit<'event_id'>): Promise<PageResponse> {
    const [event, { data }] = await Promise.all([
      this.events.get(actor, environment, params.event_id),
      this.endpoints.list(actor, environment),
    ]);
    return eventPage(environment, event, data);
  }
}
