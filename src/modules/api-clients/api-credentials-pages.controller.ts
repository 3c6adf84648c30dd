import { Controller, Get, Param, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import type { FormFields } from '../../infrastructure/http/index.js';
import {
  DashboardAction,
  DashboardPage,
  FormBody,
  inEachEnvironment,
  PageEnvironment,
  requestFrom,
  submitted,
  type PageResponse,
} from '../../infrastructure/pages/index.js';
import { RotateSecretRequest, UpdateClientRequest } from './api-clients.dto.js';
import { API_CLIENT_NOT_FOUND } from './api-clients.service.js';
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
import { ApiSecretsService, type ClientCredentialsView } from './api-secrets.service.js';

@Controller(inEachEnvironment('api-credentials'))
export class ApiCredentialsPagesController {
  constructor(private readonly secrets: ApiSecretsService) {}

  @Get()
  @DashboardPage('listApiClients')
  async show(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
  ): Promise<PageResponse> {
    const credentials = await this.secrets.credentials(actor, environment);
    return credentials ? credentialsPage(credentials) : noCredentialsPage();
  }

  @Get(':client_id/rename')
  @DashboardPage('updateApiClient')
  async startRenaming(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('client_id') clientId: string,
  ): Promise<PageResponse> {
    return renamePage(await this.credentials(actor, environment, clientId));
  }

  @Post(':client_id/rename')
  @DashboardAction('updateApiClient')
  async rename(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('client_id') clientId: string,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    const credentials = await this.credentials(actor, environment, clientId);
    return submitted(
      async () => {
        await this.secrets.rename(actor, clientId, requestFrom(UpdateClientRequest, form).name);
        return { redirectTo: `${credentialsPath(environment)}?done=renamed` };
      },
      () => renamePage(credentials),
    );
  }

  @Get(':client_id/view')
  @DashboardPage('viewApiSecret')
  async startViewing(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('client_id') clientId: string,
  ): Promise<PageResponse> {
    return viewPage(await this.credentials(actor, environment, clientId));
  }

  @Post(':client_id/view')
  @DashboardAction('viewApiSecret')
  async view(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('client_id') clientId: string,
  ): Promise<PageResponse> {
    const credentials = await this.credentials(actor, environment, clientId);
    const { secret } = await this.secrets.view(actor, clientId);
    return secretPage(credentials, secret, 'viewed');
  }

  @Get(':client_id/rotate')
  @DashboardPage('rotateApiSecret')
  async startRotating(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('client_id') clientId: string,
  ): Promise<PageResponse> {
    return rotatePage(await this.credentials(actor, environment, clientId));
  }

  @Post(':client_id/rotate')
  @DashboardAction('rotateApiSecret')
  rotate(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('client_id') clientId: string,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    return submitted(
      async () => {
        await this.credentials(actor, environment, clientId);
        const hours = { overlap_hours: Number(form.get('overlap_hours')) };
        const { overlap_hours: overlapHours } = requestFrom(RotateSecretRequest, form, hours);
        const { secret } = await this.secrets.rotate(actor, clientId, overlapHours);
        return secretPage(await this.credentials(actor, environment, clientId), secret, 'rotated');
      },
      async () => rotatePage(await this.credentials(actor, environment, clientId)),
    );
  }

  @Get(':client_id/activate')
  @DashboardPage('activateApiSecret')
  async startActivating(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('client_id') clientId: string,
  ): Promise<PageResponse> {
    return activatePage(await this.credentials(actor, environment, clientId));
  }

  @Post(':client_id/activate')
  @DashboardAction('activateApiSecret')
  async activate(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('client_id') clientId: string,
  ): Promise<PageResponse> {
    await this.credentials(actor, environment, clientId);
    await this.secrets.activate(actor, clientId);
    return { redirectTo: `${credentialsPath(environment)}?done=activated` };
  }

  /** @throws ApiError if the client does not exist, or belongs to another organization or environment */
  private async credentials(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    clientId: string,
  ): Promise<ClientCredentialsView> {
    const credentials = await this.secrets.credentials(actor, environment);
    if (credentials?.client.client_id !== clientId) throw API_CLIENT_NOT_FOUND.error();
    return credentials;
  }
}
