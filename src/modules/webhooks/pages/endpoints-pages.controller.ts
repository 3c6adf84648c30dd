import { Controller, Get, Param, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import {
  DashboardAction,
  DashboardPage,
  FormBody,
  inEachEnvironment,
  PageEnvironment,
  requestFrom,
  submitted,
  timestampFrom,
  type PageResponse,
} from '../../../infrastructure/pages/index.js';
import { OutsideOrganizationQueue } from '../../../infrastructure/surfaces/index.js';
import {
  CreateWebhookEndpointRequest,
  UpdateWebhookEndpointRequest,
} from '../endpoints/webhook-endpoints.dto.js';
import { WebhookEndpointsService } from '../endpoints/webhook-endpoints.service.js';
import { RecoverRequest, TestWebhookEndpointRequest } from '../deliveries/deliveries.dto.js';
import { DeliveriesService } from '../deliveries/deliveries.service.js';
import { RecentDeliveries } from '../deliveries/recent-deliveries.js';
import { RecoveriesService } from '../recoveries/recoveries.service.js';
import { recoveryPage, testPage } from './endpoint-actions.pages.js';
import { endpointList, endpointPath } from './endpoint-parts.pages.js';
import { endpointPage } from './endpoint.pages.js';
import {
  deleteEndpointPage,
  editEndpointPage,
  endpointsPage,
  newEndpointPage,
  type EndpointFields,
} from './endpoints.pages.js';

/** The pages about webhook endpoints, and about what is sent to them. */
@Controller(inEachEnvironment('webhook-endpoints'))
export class EndpointsPagesController {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly deliveries: DeliveriesService,
    private readonly recentDeliveries: RecentDeliveries,
    private readonly recoveries: RecoveriesService,
  ) {}

  @Get()
  @DashboardPage('listWebhookEndpoints')
  async list(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
  ): Promise<PageResponse> {
    return endpointsPage(environment, (await this.endpoints.list(actor, environment)).data);
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
      this.recentDeliveries.of(actor, endpoint),
    ]);
    return endpointPage(response, activity);
  }

  @Get('new')
  @DashboardPage('createWebhookEndpoint')
  startCreating(@PageEnvironment() environment: PlatformEnvironment): PageResponse {
    return newEndpointPage(environment, { events: [] });
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

  @Get(':id/edit')
  @DashboardPage('updateWebhookEndpoint')
  async startEditing(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
  ): Promise<PageResponse> {
    const { url, description, events } = await this.endpoints.requireIn(actor, environment, id);
    return editEndpointPage(endpointPath(environment, id), {
      url,
      description: description ?? undefined,
      events: events ?? [],
    });
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
    const done = status === 'paused' ? 'paused' : disabledAt ? 'enabled' : 'resumed';
    return { redirectTo: `${endpointPath(environment, id)}?done=${done}` };
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
    return { redirectTo: `${endpointList(environment).path}?done=deleted` };
  }

  @Get(':id/test')
  @DashboardPage('testWebhookEndpoint')
  async startTest(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
  ): Promise<PageResponse> {
    return testPage(await this.endpoints.requireIn(actor, environment, id), {});
  }

  @Post(':id/test')
  @DashboardAction('testWebhookEndpoint')
  @OutsideOrganizationQueue()
  async test(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    const endpoint = await this.endpoints.requireIn(actor, environment, id);
    return submitted(
      async () => {
        const { event } = requestFrom(TestWebhookEndpointRequest, form);
        return testPage(endpoint, { event, result: await this.deliveries.test(actor, id, event) });
      },
      (problem) => testPage(endpoint, { event: form.get('event'), problem }),
    );
  }

  @Get(':id/recover')
  @DashboardPage('getWebhookRecovery')
  async startRecovering(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
  ): Promise<PageResponse> {
    await this.endpoints.requireIn(actor, environment, id);
    return this.recoveryPage(actor, id);
  }

  @Post(':id/recover')
  @DashboardAction('recoverWebhooks')
  async recover(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    await this.endpoints.requireIn(actor, environment, id);
    const since = form.get('since');
    return submitted(
      async () => {
        const request = requestFrom(RecoverRequest, form, { since: timestampFrom(since) });
        await this.recoveries.request(actor, id, new Date(request.since));
        return { redirectTo: `${endpointPath(environment, id, 'recover')}?done=started&live=on` };
      },
      (problem) => this.recoveryPage(actor, id, since, problem),
    );
  }

  private async recoveryPage(
    actor: DashboardActor,
    id: string,
    since?: string,
    problem?: string,
  ): Promise<PageResponse> {
    const [endpoint, recovery] = await Promise.all([
      this.endpoints.get(actor, id),
      this.recoveries.get(actor, id),
    ]);
    return recoveryPage({ endpoint, recovery, since, problem });
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
