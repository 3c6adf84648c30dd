import { Injectable } from '@nestjs/common';
import type { DashboardActor } from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import type { FormFields } from '../../infrastructure/http/index.js';
import {
  dashboardPath,
  requestFrom,
  submitted,
  type PageResponse,
} from '../../infrastructure/pages/index.js';
import { EndpointDeliveries } from './endpoint-deliveries.js';
import { endpointPath } from './endpoint-parts.pages.js';
import { endpointPage } from './endpoint.pages.js';
import { EventNames } from './event-names.js';
import { CreateWebhookEndpointRequest, UpdateWebhookEndpointRequest } from './webhook-endpoints.dto.js';
import {
  deleteEndpointPage,
  editEndpointPage,
  endpointsPage,
  newEndpointPage,
  type EndpointFields,
} from './webhook-endpoints.pages.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';

/** The pages about webhook endpoints. Those that send something belong to the module `webhooks`. */
@Injectable()
export class WebhookEndpointsPagesService {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly deliveries: EndpointDeliveries,
    private readonly eventNames: EventNames,
  ) {}

  async list(actor: DashboardActor, environment: PlatformEnvironment): Promise<PageResponse> {
    return endpointsPage(environment, (await this.endpoints.list(actor, environment)).data);
  }

  async get(actor: DashboardActor, environment: PlatformEnvironment, id: string): Promise<PageResponse> {
    const endpoint = await this.endpoints.requireIn(actor, environment, id);
    const [response, activity] = await Promise.all([
      this.endpoints.get(actor, id),
      this.deliveries.recent(actor, endpoint),
    ]);
    return endpointPage(response, activity);
  }

  startCreating(environment: PlatformEnvironment): PageResponse {
    return newEndpointPage(environment, this.eventNames, { events: [] });
  }

  create(actor: DashboardActor, environment: PlatformEnvironment, form: FormFields): Promise<PageResponse> {
    return submitted(
      async () => {
        const request = requestFrom(CreateWebhookEndpointRequest, form, { environment });
        const { id } = await this.endpoints.create(actor, request);
        return { redirectTo: `${endpointPath(environment, id)}?done=created` };
      },
      (problem) => newEndpointPage(environment, this.eventNames, fieldsOf(form), problem),
    );
  }

  async startEditing(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    id: string,
  ): Promise<PageResponse> {
    const { url, description, events } = await this.endpoints.requireIn(actor, environment, id);
    return editEndpointPage(endpointPath(environment, id), this.eventNames, {
      url,
      description: description ?? undefined,
      events: events ?? [],
    });
  }

  async edit(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    id: string,
    form: FormFields,
  ): Promise<PageResponse> {
    await this.endpoints.requireIn(actor, environment, id);
    const path = endpointPath(environment, id);
    const fields = fieldsOf(form);
    return submitted(
      async () => {
        // Empty fields remove the value. In a request, absent ones would keep it.
        const request = requestFrom(UpdateWebhookEndpointRequest, form, {
          url: fields.url ?? '',
          description: fields.description ?? null,
          events: fields.events.length === 0 ? null : fields.events,
        });
        await this.endpoints.update(actor, id, request);
        return { redirectTo: `${path}?done=saved` };
      },
      (problem) => editEndpointPage(path, this.eventNames, fields, problem),
    );
  }

  async setStatus(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    id: string,
    form: FormFields,
  ): Promise<PageResponse> {
    const { disabledAt } = await this.endpoints.requireIn(actor, environment, id);
    const { status } = requestFrom(UpdateWebhookEndpointRequest, form);
    await this.endpoints.update(actor, id, { status });
    const resumed = disabledAt ? 'enabled' : 'resumed';
    return {
      redirectTo: `${endpointPath(environment, id)}?done=${status === 'paused' ? 'paused' : resumed}`,
    };
  }

  async startDeleting(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    id: string,
  ): Promise<PageResponse> {
    return deleteEndpointPage(environment, await this.endpoints.requireIn(actor, environment, id));
  }

  async delete(actor: DashboardActor, environment: PlatformEnvironment, id: string): Promise<PageResponse> {
    await this.endpoints.requireIn(actor, environment, id);
    await this.endpoints.delete(actor, id);
    return { redirectTo: `${dashboardPath(environment, 'webhook-endpoints')}?done=deleted` };
  }
}

function fieldsOf(form: FormFields): EndpointFields {
  return {
    url: form.get('url'),
    description: form.get('description'),
    events: form.all('events[]'),
    status: form.get('status'),
  };
}
