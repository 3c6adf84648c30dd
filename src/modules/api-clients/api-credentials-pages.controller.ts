import { Controller, createParamDecorator, Get, Post, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { CurrentActor, dashboardActorOf, type DashboardActor } from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import type { FormFields } from '../../infrastructure/http/index.js';
import {
  DashboardAction,
  DashboardPage,
  FormBody,
  inEachEnvironment,
  PageEnvironment,
  pageEnvironmentOf,
  requestFrom,
  submitted,
  type PageResponse,
} from '../../infrastructure/pages/index.js';
import { RotateSecretRequest, UpdateClientRequest } from './api-clients.dto.js';
import {
  API_CLIENT_NOT_FOUND,
  ApiClientsService,
  type ClientCredentialsView,
} from './api-clients.service.js';
import {
  activatePage,
  credentialsPage,
  credentialsPath,
  noCredentialsPage,
  renamePage,
  rotatePage,
  secretPage,
  viewPage,
} from './api-credentials.pages.js';

/** Who asks for which API client, and the environment of the page. */
interface Target {
  readonly actor: DashboardActor;
  readonly environment: PlatformEnvironment;
  readonly clientId: string;
}

const Target = createParamDecorator((_data: unknown, context: ExecutionContext): Target => {
  const request = context.switchToHttp().getRequest<Request<{ client_id: string }>>();
  return {
    actor: dashboardActorOf(request),
    environment: pageEnvironmentOf(request),
    clientId: request.params.client_id,
  };
});

@Controller(inEachEnvironment('api-credentials'))
export class ApiCredentialsPagesController {
  constructor(private readonly clients: ApiClientsService) {}

  @Get()
  @DashboardPage('listApiClients')
  async show(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
  ): Promise<PageResponse> {
    const credentials = await this.clients.credentials(actor, environment);
    return credentials ? credentialsPage(credentials) : noCredentialsPage();
  }

  @Get(':client_id/rename')
  @DashboardPage('updateApiClient')
  async startRenaming(@Target() target: Target): Promise<PageResponse> {
    return renamePage(await this.credentials(target));
  }

  @Post(':client_id/rename')
  @DashboardAction('updateApiClient')
  async rename(@Target() target: Target, @FormBody() form: FormFields): Promise<PageResponse> {
    const credentials = await this.credentials(target);
    return submitted(
      async () => {
        await this.clients.rename(target.actor, target.clientId, requestFrom(UpdateClientRequest, form).name);
        return { redirectTo: `${credentialsPath(target.environment)}?done=renamed` };
      },
      () => renamePage(credentials),
    );
  }

  @Get(':client_id/view')
  @DashboardPage('viewApiSecret')
  async startViewing(@Target() target: Target): Promise<PageResponse> {
    return viewPage(await this.credentials(target));
  }

  @Post(':client_id/view')
  @DashboardAction('viewApiSecret')
  async view(@Target() target: Target): Promise<PageResponse> {
    const credentials = await this.credentials(target);
    const { secret } = await this.clients.view(target.actor, target.clientId);
    return secretPage(credentials, secret, 'viewed');
  }

  @Get(':client_id/rotate')
  @DashboardPage('rotateApiSecret')
  async startRotating(@Target() target: Target): Promise<PageResponse> {
    return rotatePage(await this.credentials(target));
  }

  @Post(':client_id/rotate')
  @DashboardAction('rotateApiSecret')
  rotate(@Target() target: Target, @FormBody() form: FormFields): Promise<PageResponse> {
    return submitted(
      async () => {
        await this.credentials(target);
        const hours = { overlap_hours: Number(form.get('overlap_hours')) };
        const { overlap_hours: overlapHours } = requestFrom(RotateSecretRequest, form, hours);
        const { secret } = await this.clients.rotate(target.actor, target.clientId, overlapHours);
        return secretPage(await this.credentials(target), secret, 'rotated');
      },
      async () => rotatePage(await this.credentials(target)),
    );
  }

  @Get(':client_id/activate')
  @DashboardPage('activateApiSecret')
  async startActivating(@Target() target: Target): Promise<PageResponse> {
    return activatePage(await this.credentials(target));
  }

  @Post(':client_id/activate')
  @DashboardAction('activateApiSecret')
  async activate(@Target() target: Target): Promise<PageResponse> {
    await this.credentials(target);
    await this.clients.activate(target.actor, target.clientId);
    return { redirectTo: `${credentialsPath(target.environment)}?done=activated` };
  }

  /** @throws ApiError if the client does not exist, or belongs to another organization or environment */
  private async credentials({ actor, environment, clientId }: Target): Promise<ClientCredentialsView> {
    const credentials = await this.clients.credentials(actor, environment);
    if (credentials?.client.client_id !== clientId) throw API_CLIENT_NOT_FOUND.error();
    return credentials;
  }
}
