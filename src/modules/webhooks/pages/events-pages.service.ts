import { Injectable } from '@nestjs/common';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import {
  dashboardPath,
  queryFrom,
  requestFrom,
  submitted,
  timestampFrom,
  type PageResponse,
} from '../../../infrastructure/pages/index.js';
import { WebhookEndpointsService } from '../../webhook-endpoints/index.js';
import { RedeliverRequest } from '../deliveries/deliveries.dto.js';
import { DeliveriesService } from '../deliveries/deliveries.service.js';
import { ListEventsQuery } from '../events/published-events.dto.js';
import { PublishedEventsService } from '../events/published-events.service.js';
import { eventPage, eventsPage } from './events.pages.js';

/** The pages about published events and their deliveries. */
@Injectable()
export class EventsPagesService {
  constructor(
    private readonly events: PublishedEventsService,
    private readonly endpoints: WebhookEndpointsService,
    private readonly deliveries: DeliveriesService,
  ) {}

  list(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    query: Record<string, string>,
  ): Promise<PageResponse> {
    return submitted(
      async () => {
        const times = { start: timestampFrom(query['start']), end: timestampFrom(query['end']) };
        const found = await this.events.page(
          actor,
          environment,
          queryFrom(ListEventsQuery, { ...query, ...times }),
        );
        return eventsPage(environment, found);
      },
      (problem) => eventsPage(environment, { data: [], nextCursor: null }, problem),
    );
  }

  /** @param problem why the event could not be sent again */
  async get(
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

  async sendAgain(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    id: string,
    form: FormFields,
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
      (problem) => this.get(actor, environment, id, problem),
    );
  }
}
