import {
  Controller,
  createParamDecorator,
  Get,
  Injectable,
  Post,
  type ExecutionContext,
  type PipeTransform,
} from '@nestjs/common';
import type { Request } from 'express';
import { CurrentActor, dashboardActorOf, type DashboardActor } from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { environmentOf, type FormFields } from '../../../infrastructure/http/index.js';
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
import {
  WebhookEndpointsService,
  type OwnedWebhookEndpoint,
} from '../endpoints/webhook-endpoints.service.js';
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

/** Finds the endpoint in the path of a page, in the environment that the page shows. */
@Injectable()
class EndpointPipe implements PipeTransform<Request, Promise<OwnedWebhookEndpoint>> {
  constructor(private readonly endpoints: WebhookEndpointsService) {}

  transform(request: Request): Promise<OwnedWebhookEndpoint> {
    const environment = environmentOf(request.path) as PlatformEnvironment;
    return this.endpoints.requireIn(dashboardActorOf(request), environment, String(request.params['id']));
  }
}

const PathEndpoint = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  context.switchToHttp().getRequest<Request>(),
);
/** Handler parameter: the endpoint in the path. */
const Endpoint = (): ParameterDecorator => PathEndpoint(EndpointPipe);

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
    @Endpoint() endpoint: OwnedWebhookEndpoint,
  ): Promise<PageResponse> {
    const [response, activity] = await Promise.all([
      this.endpoints.get(actor, endpoint.id),
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
  startEditing(@Endpoint() endpoint: OwnedWebhookEndpoint): PageResponse {
    const { url, description, events } = endpoint;
    const fields = { url, description: description ?? undefined, events: events ?? [] };
    return editEndpointPage(pathOf(endpoint), fields);
  }

  @Post(':id/edit')
  @DashboardAction('updateWebhookEndpoint')
  edit(
    @CurrentActor() actor: DashboardActor,
    @Endpoint() endpoint: OwnedWebhookEndpoint,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    const path = pathOf(endpoint);
    const fields = fieldsOf(form);
    return submitted(
      async () => {
        // Empty fields remove the value. In a request, absent ones would keep it.
        const request = requestFrom(UpdateWebhookEndpointRequest, form, {
          url: fields.url ?? '',
          description: fields.description ?? null,
          events: fields.events.length === 0 ? null : fields.events,
        });
        await this.endpoints.update(actor, endpoint.id, request);
        return { redirectTo: `${path}?done=saved` };
      },
      (problem) => editEndpointPage(path, fields, problem),
    );
  }

  @Post(':id/status')
  @DashboardAction('updateWebhookEndpoint')
  async setStatus(
    @CurrentActor() actor: DashboardActor,
    @Endpoint() endpoint: OwnedWebhookEndpoint,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    const { status } = requestFrom(UpdateWebhookEndpointRequest, form);
    await this.endpoints.update(actor, endpoint.id, { status });
    const done = status === 'paused' ? 'paused' : endpoint.disabledAt ? 'enabled' : 'resumed';
    return { redirectTo: `${pathOf(endpoint)}?done=${done}` };
  }

  @Get(':id/delete')
  @DashboardPage('deleteWebhookEndpoint')
  startDeleting(@Endpoint() endpoint: OwnedWebhookEndpoint): PageResponse {
    return deleteEndpointPage(pathOf(endpoint), endpoint);
  }

  @Post(':id/delete')
  @DashboardAction('deleteWebhookEndpoint')
  async delete(
    @CurrentActor() actor: DashboardActor,
    @Endpoint() { id, client }: OwnedWebhookEndpoint,
  ): Promise<PageResponse> {
    await this.endpoints.delete(actor, id);
    return { redirectTo: `${endpointList(client.environment).path}?done=deleted` };
  }

  @Get(':id/test')
  @DashboardPage('testWebhookEndpoint')
  startTest(@Endpoint() endpoint: OwnedWebhookEndpoint): PageResponse {
    return testPage(endpoint, {});
  }

  @Post(':id/test')
  @DashboardAction('testWebhookEndpoint')
  @OutsideOrganizationQueue()
  test(
    @CurrentActor() actor: DashboardActor,
    @Endpoint() endpoint: OwnedWebhookEndpoint,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    return submitted(
      async () => {
        const { event } = requestFrom(TestWebhookEndpointRequest, form);
        return testPage(endpoint, { event, result: await this.deliveries.test(actor, endpoint.id, event) });
      },
      (problem) => testPage(endpoint, { event: form.get('event'), problem }),
    );
  }

  @Get(':id/recover')
  @DashboardPage('getWebhookRecovery')
  startRecovering(
    @CurrentActor() actor: DashboardActor,
    @Endpoint() { id }: OwnedWebhookEndpoint,
  ): Promise<PageResponse> {
    return this.recoveryPage(actor, id);
  }

  @Post(':id/recover')
  @DashboardAction('recoverWebhooks')
  recover(
    @CurrentActor() actor: DashboardActor,
    @Endpoint() endpoint: OwnedWebhookEndpoint,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    const since = form.get('since');
    return submitted(
      async () => {
        const request = requestFrom(RecoverRequest, form, { since: timestampFrom(since) });
        await this.recoveries.request(actor, endpoint.id, new Date(request.since));
        return { redirectTo: `${pathOf(endpoint)}/recover?done=started&live=on` };
      },
      (problem) => this.recoveryPage(actor, endpoint.id, since, problem),
    );
  }

  private async recoveryPage(
    actor: DashboardActor,
    id: string,
    since?: string,
    problem?: string,
  ): Promise<PageResponse> {
    const endpoint = await this.endpoints.get(actor, id);
    return recoveryPage({ endpoint, recovery: await this.recoveries.get(actor, id), since, problem });
  }
}

function pathOf({ id, client }: OwnedWebhookEndpoint): string {
  return endpointPath(client.environment, id);
}

function fieldsOf(form: FormFields): EndpointFields {
  return {
    url: form.get('url'),
    description: form.get('description'),
    events: form.all('events[]'),
    status: form.get('status'),
  };
}
