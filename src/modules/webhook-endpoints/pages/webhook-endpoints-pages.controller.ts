import { Controller, Get, Post } from '@nestjs/common';
import {
  DashboardAction,
  DashboardPage,
  inEachEnvironment,
  requestFrom,
  requireUnchanged,
  submitted,
  Visit,
  type PageResponse,
  type PageVisit,
  type ShownValues,
} from '../../../infrastructure/pages/index.js';
import { CreateWebhookEndpointRequest, UpdateWebhookEndpointRequest } from '../webhook-endpoints.dto.js';
import { WebhookEndpointsService, type OwnedWebhookEndpoint } from '../webhook-endpoints.service.js';
import { RecentDeliveries } from '../recent-deliveries.js';
import { endpointList, endpointPath } from './endpoint-parts.pages.js';
import { endpointPage } from './endpoint.pages.js';
import { EndpointPipe, type EndpointVisit } from './endpoint.pipe.js';
import { deleteEndpointPage, editEndpointPage, endpointsPage, newEndpointPage } from './endpoints.pages.js';

/** The pages about webhook endpoints. */
@Controller(inEachEnvironment('webhook-endpoints'))
export class WebhookEndpointsPagesController {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly recentDeliveries: RecentDeliveries,
  ) {}

  @Get()
  @DashboardPage('listWebhookEndpoints')
  async list(@Visit() { actor, environment }: PageVisit): Promise<PageResponse> {
    const { data } = await this.endpoints.list(actor, environment);
    const targets = data.map(({ id }) => id);
    return endpointsPage(environment, data, await this.recentDeliveries.trends(actor, environment, targets));
  }

  @Get(':id')
  @DashboardPage('getWebhookEndpoint')
  async get(@Visit(EndpointPipe) { actor, endpoint }: EndpointVisit): Promise<PageResponse> {
    const [response, activity] = await Promise.all([
      this.endpoints.get(actor, endpoint.id),
      this.recentDeliveries.of(actor, endpoint),
    ]);
    return endpointPage(response, activity);
  }

  @Get('new')
  @DashboardPage('createWebhookEndpoint')
  startCreating(@Visit() { environment }: PageVisit): PageResponse {
    return newEndpointPage(environment);
  }

  @Post('new')
  @DashboardAction('createWebhookEndpoint')
  create(@Visit() { actor, environment, form }: PageVisit): Promise<PageResponse> {
    return submitted(
      async () => {
        const request = requestFrom(CreateWebhookEndpointRequest, form, { environment });
        const { id } = await this.endpoints.create(actor, request);
        return { redirectTo: `${endpointPath(environment, id)}?done=created` };
      },
      () => newEndpointPage(environment),
    );
  }

  @Get(':id/edit')
  @DashboardPage('updateWebhookEndpoint')
  startEditing(@Visit(EndpointPipe) { endpoint }: EndpointVisit): PageResponse {
    return editEndpointPage(pathOf(endpoint), fieldsOf(endpoint), changeableOf(endpoint));
  }

  @Post(':id/edit')
  @DashboardAction('updateWebhookEndpoint')
  edit(@Visit(EndpointPipe) { actor, endpoint, form }: EndpointVisit): Promise<PageResponse> {
    const path = pathOf(endpoint);
    const fields = {
      url: form.get('url'),
      description: form.get('description'),
      events: form.all('events[]'),
    };
    return submitted(
      async () => {
        // Empty fields remove the value. In a request, absent ones would keep it.
        const request = requestFrom(UpdateWebhookEndpointRequest, form, {
          url: fields.url ?? '',
          description: fields.description ?? null,
          events: fields.events.length === 0 ? null : fields.events,
        });
        await this.endpoints.update(actor, endpoint.id, request, (current) =>
          requireUnchanged(form, changeableOf(current)),
        );
        return { redirectTo: `${path}?done=saved` };
      },
      async () =>
        editEndpointPage(path, fields, changeableOf(await this.endpoints.require(actor, endpoint.id))),
    );
  }

  @Post(':id/status')
  @DashboardAction('updateWebhookEndpoint')
  async setStatus(@Visit(EndpointPipe) { actor, endpoint, form }: EndpointVisit): Promise<PageResponse> {
    const { status } = requestFrom(UpdateWebhookEndpointRequest, form);
    await this.endpoints.update(actor, endpoint.id, { status });
    const done = status === 'paused' ? 'paused' : endpoint.disabledAt ? 'enabled' : 'resumed';
    return { redirectTo: `${pathOf(endpoint)}?done=${done}` };
  }

  @Get(':id/delete')
  @DashboardPage('deleteWebhookEndpoint')
  startDeleting(@Visit(EndpointPipe) { endpoint }: EndpointVisit): PageResponse {
    return deleteEndpointPage(pathOf(endpoint), endpoint);
  }

  @Post(':id/delete')
  @DashboardAction('deleteWebhookEndpoint')
  async delete(@Visit(EndpointPipe) { actor, environment, endpoint }: EndpointVisit): Promise<PageResponse> {
    await this.endpoints.delete(actor, endpoint.id);
    return { redirectTo: `${endpointList(environment).path}?done=deleted` };
  }
}

function pathOf({ id, client }: OwnedWebhookEndpoint): string {
  return endpointPath(client.environment, id);
}

function fieldsOf({ url, description, events }: OwnedWebhookEndpoint) {
  return { url, description: description ?? '', events: events ?? [] };
}

/** What the form changes. */
function changeableOf({
  url,
  description,
  events,
}: Pick<OwnedWebhookEndpoint, 'url' | 'description' | 'events'>): ShownValues {
  return { URL: url, Description: description ?? 'none', 'Events to send': events?.join(', ') ?? 'all' };
}
