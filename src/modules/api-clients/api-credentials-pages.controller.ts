import { Controller, Get, Post } from '@nestjs/common';
import {
  DashboardAction,
  DashboardPage,
  inEachEnvironment,
  requestFrom,
  submitted,
  Visit,
  type PageResponse,
  type PageVisit,
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

type ClientVisit = PageVisit<'client_id'>;

@Controller(inEachEnvironment('api-credentials'))
export class ApiCredentialsPagesController {
  constructor(private readonly clients: ApiClientsService) {}

  @Get()
  @DashboardPage('listApiClients')
  async show(@Visit() { actor, environment }: PageVisit): Promise<PageResponse> {
    const credentials = await this.clients.credentials(actor, environment);
    return credentials ? credentialsPage(credentials) : noCredentialsPage();
  }

  @Get(':client_id/rename')
  @DashboardPage('updateApiClient')
  async startRenaming(@Visit() visit: ClientVisit): Promise<PageResponse> {
    return renamePage(await this.credentials(visit));
  }

  @Post(':client_id/rename')
  @DashboardAction('updateApiClient')
  async rename(@Visit() visit: ClientVisit): Promise<PageResponse> {
    const { actor, environment, params, form } = visit;
    const credentials = await this.credentials(visit);
    return submitted(
      async () => {
        await this.clients.rename(actor, params.client_id, requestFrom(UpdateClientRequest, form).name);
        return { redirectTo: `${credentialsPath(environment)}?done=renamed` };
      },
      () => renamePage(credentials),
    );
  }

  @Get(':client_id/view')
  @DashboardPage('viewApiSecret')
  async startViewing(@Visit() visit: ClientVisit): Promise<PageResponse> {
    return viewPage(await this.credentials(visit));
  }

  @Post(':client_id/view')
  @DashboardAction('viewApiSecret')
  async view(@Visit() visit: ClientVisit): Promise<PageResponse> {
    const credentials = await this.credentials(visit);
    const { secret } = await this.clients.view(visit.actor, visit.params.client_id);
    return secretPage(credentials, secret, 'viewed');
  }

  @Get(':client_id/rotate')
  @DashboardPage('rotateApiSecret')
  async startRotating(@Visit() visit: ClientVisit): Promise<PageResponse> {
    return rotatePage(await this.credentials(visit));
  }

  @Post(':client_id/rotate')
  @DashboardAction('rotateApiSecret')
  rotate(@Visit() visit: ClientVisit): Promise<PageResponse> {
    const { actor, params, form } = visit;
    return submitted(
      async () => {
        await this.credentials(visit);
        const hours = { overlap_hours: Number(form.get('overlap_hours')) };
        const { overlap_hours: overlapHours } = requestFrom(RotateSecretRequest, form, hours);
        const { secret } = await this.clients.rotate(actor, params.client_id, overlapHours);
        return secretPage(await this.credentials(visit), secret, 'rotated');
      },
      async () => rotatePage(await this.credentials(visit)),
    );
  }

  @Get(':client_id/activate')
  @DashboardPage('activateApiSecret')
  async startActivating(@Visit() visit: ClientVisit): Promise<PageResponse> {
    return activatePage(await this.credentials(visit));
  }

  @Post(':client_id/activate')
  @DashboardAction('activateApiSecret')
  async activate(@Visit() visit: ClientVisit): Promise<PageResponse> {
    await this.credentials(visit);
    await this.clients.activate(visit.actor, visit.params.client_id);
    return { redirectTo: `${credentialsPath(visit.environment)}?done=activated` };
  }

  /** @throws ApiError if the client does not exist, or belongs to another organization or environment */
  private async credentials({ actor, environment, params }: ClientVisit): Promise<ClientCredentialsView> {
    const credentials = await this.clients.credentials(actor, environment);
    if (credentials?.client.client_id !== params.client_id) throw API_CLIENT_NOT_FOUND.error();
    return credentials;
  }
}
