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
import { API_CLIENT_NOT_FOUND, ApiClientsService, type SecretsOverview } from './api-clients.service.js';
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
    const overview = await this.clients.secretsOverview(actor, environment);
    return overview ? credentialsPage(overview) : noCredentialsPage();
  }

  @Get(':client_id/rename')
  @DashboardPage('updateApiClient')
  async startRenaming(@Visit() visit: ClientVisit): Promise<PageResponse> {
    return renamePage(await this.requireOverview(visit));
  }

  @Post(':client_id/rename')
  @DashboardAction('updateApiClient')
  async rename(@Visit() visit: ClientVisit): Promise<PageResponse> {
    const { actor, environment, params, form } = visit;
    const overview = await this.requireOverview(visit);
    return submitted(
      async () => {
        await this.clients.rename(actor, params.client_id, requestFrom(UpdateClientRequest, form).name);
        return { redirectTo: `${credentialsPath(environment)}?done=renamed` };
      },
      () => renamePage(overview),
    );
  }

  @Get(':client_id/view')
  @DashboardPage('viewApiSecret')
  async startViewing(@Visit() visit: ClientVisit): Promise<PageResponse> {
    return viewPage(await this.requireOverview(visit));
  }

  @Post(':client_id/view')
  @DashboardAction('viewApiSecret')
  async view(@Visit() visit: ClientVisit): Promise<PageResponse> {
    const overview = await this.requireOverview(visit);
    const secret = await this.clients.view(visit.actor, visit.params.client_id);
    return secretPage(overview, secret, 'viewed');
  }

  @Get(':client_id/rotate')
  @DashboardPage('rotateApiSecret')
  async startRotating(@Visit() visit: ClientVisit): Promise<PageResponse> {
    return rotatePage(await this.requireOverview(visit));
  }

  @Post(':client_id/rotate')
  @DashboardAction('rotateApiSecret')
  rotate(@Visit() visit: ClientVisit): Promise<PageResponse> {
    const { actor, params, form } = visit;
    return submitted(
      async () => {
        await this.requireOverview(visit);
        const hours = { overlap_hours: Number(form.get('overlap_hours')) };
        const { overlap_hours: overlapHours } = requestFrom(RotateSecretRequest, form, hours);
        const secret = await this.clients.rotateSecretForUser(actor, params.client_id, overlapHours);
        return secretPage(await this.requireOverview(visit), secret, 'rotated');
      },
      async () => rotatePage(await this.requireOverview(visit)),
    );
  }

  @Get(':client_id/activate')
  @DashboardPage('activateApiSecret')
  async startActivating(@Visit() visit: ClientVisit): Promise<PageResponse> {
    return activatePage(await this.requireOverview(visit));
  }

  @Post(':client_id/activate')
  @DashboardAction('activateApiSecret')
  async activate(@Visit() visit: ClientVisit): Promise<PageResponse> {
    await this.requireOverview(visit);
    await this.clients.activateSecretForUser(visit.actor, visit.params.client_id);
    return { redirectTo: `${credentialsPath(visit.environment)}?done=activated` };
  }

  /** @throws ApiError if the client does not exist, or belongs to another organization or environment */
  private async requireOverview({ actor, environment, params }: ClientVisit): Promise<SecretsOverview> {
    const overview = await this.clients.secretsOverview(actor, environment);
    if (overview?.client.client_id !== params.client_id) throw API_CLIENT_NOT_FOUND.error();
    return overview;
  }
}
