import { Controller, Get, Param, Post } from '@nestjs/common';
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
  requestFrom,
  submitted,
  type PageResponse,
} from '../../../infrastructure/pages/index.js';
import { EndpointActivityService } from './endpoint-activity.service.js';
import { endpointPath } from './endpoint-parts.pages.js';
import { endpointPage } from './endpoint.pages.js';
import { CreateWebhookEndpointRequest, UpdateWebhookEndpointRequest } from './webhook-endpoints.dto.js';
import {
  deleteEndpointPage,
  editEndpointPage,
  endpointsPage,
  newEndpointPage,
  type EndpointFields,
} from './webhook-endpoints.pages.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';

/** The pages about webhook endpoints. Those that send something are in `deliveries/`. */
@Controller(inEachEnvironment('webhook-endpoints'))
export class WebhookEndpointsPagesController {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly activity: EndpointActivityService,
  ) {}

  @Get()
  @DashboardPage('listWebhookEndpoints')
  async list(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
  ): Promise<PageResponse> {
    return endpointsPage(environment, (await this.endpoints.list(actor, environment)).data);
  }

  @Post('new')
  @DashboardAction('createWebhookEndpoint')
  create(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    return submitted(
      async () => {
        const request = requestFrom(CreateWebhookEndpointRequest, form, { environment });
        const { id } = await this.endpoints.create(actor, request);
        return { redirectTo: `${endpointPath(environment, id)}?done=created` };
      },
      (problem) => newEndpointPage(environment, fieldsOf(form), problem),
    );
  }

  @Get(':id')
  @DashboardPage('getWebhookEndpoint')
  async get(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
  ): Promise<PageResponse> {
    const endpoint = await this.endpoints.requireIn(actor, environment, id);
    const [response, activity] = await Promise.all([
      this.endpoints.get(actor, id),
      this.activity.recent(actor, endpoint),
    ]);
    return endpointPage(response, activity);
  }

  @Get('new')
  @DashboardPage('createWebhookEndpoint')
  startCreating(@PageEnvironment() environment: PlatformEnvironment): PageResponse {
    return newEndpointPage(environment, { events: [] });
  }

  @Get(':id/edit')
  @DashboardPage('updateWebhookEndpoint')
  async startEditing(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
  ): Promise<PageResponse> {
    const { url, description, events } = await this.endpoints.requireIn(actor, environment, id);
    const fields = { url, description: description ?? undefined, events: events ?? [] };
    return editEndpointPage(endpointPath(environment, id), fields);
  }

  @Post(':id/edit')
  @DashboardAction('updateWebhookEndpoint')
  async edit(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
    @FormBody() form: FormFields,
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
      (problem) => editEndpointPage(path, fields, problem),
    );
  }

  @Post(':id/status')
  @DashboardAction('updateWebhookEndpoint')
  async setStatus(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    const { disabledAt } = await this.endpoints.requireIn(actor, environment, id);
    const { status } = requestFrom(UpdateWebhookEndpointRequest, form);
    await this.endpoints.update(actor, id, { status });
    const resumed = disabledAt ? 'enabled' : 'resumed';
    return {
      redirectTo: `${endpointPath(environment, id)}?done=${status === 'paused' ? 'paused' : resumed}`,
    };
  }

  @Get(':id/delete')
  @DashboardPage('deleteWebhookEndpoint')
  async startDeleting(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
  ): Promise<PageResponse> {
    return deleteEndpointPage(environment, await this.endpoints.requireIn(actor, environment, id));
  }

  @Post(':id/delete')
  @DashboardAction('deleteWebhookEndpoint')
  async delete(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
  ): Promise<PageResponse> {
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
