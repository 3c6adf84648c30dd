import { Injectable } from '@nestjs/common';
import type { DashboardActor } from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import type { FormFields } from '../../infrastructure/http/index.js';
import { requestFrom, submitted, type PageResponse } from '../../infrastructure/pages/index.js';
import { API_CLIENT_NOT_FOUND } from './api-client-errors.js';
import { RotateSecretRequest, UpdateClientRequest } from './api-clients.dto.js';
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

/** The pages about the credentials of API clients. */
@Injectable()
export class ApiCredentialsPagesService {
  constructor(private readonly secrets: ApiSecretsService) {}

  async show(actor: DashboardActor, environment: PlatformEnvironment): Promise<PageResponse> {
    const credentials = await this.secrets.credentials(actor, environment);
    return credentials ? credentialsPage(credentials) : noCredentialsPage();
  }

  async startRenaming(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    clientId: string,
  ): Promise<PageResponse> {
    const { client } = await this.credentials(actor, environment, clientId);
    return renamePage(client, client.name ?? '');
  }

  async rename(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    clientId: string,
    form: FormFields,
  ): Promise<PageResponse> {
    const { client } = await this.credentials(actor, environment, clientId);
    return submitted(
      async () => {
        await this.secrets.rename(actor, clientId, requestFrom(UpdateClientRequest, form).name);
        return { redirectTo: `${credentialsPath(environment)}?done=renamed` };
      },
      (problem) => renamePage(client, form.get('name') ?? '', problem),
    );
  }

  async startViewing(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    clientId: string,
  ): Promise<PageResponse> {
    return viewPage(await this.credentials(actor, environment, clientId));
  }

  async view(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    clientId: string,
  ): Promise<PageResponse> {
    const credentials = await this.credentials(actor, environment, clientId);
    const { secret } = await this.secrets.view(actor, clientId);
    return secretPage(credentials, secret, 'viewed');
  }

  async startRotating(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    clientId: string,
  ): Promise<PageResponse> {
    return rotatePage(await this.credentials(actor, environment, clientId));
  }

  rotate(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    clientId: string,
    form: FormFields,
  ): Promise<PageResponse> {
    return submitted(
      async () => {
        await this.credentials(actor, environment, clientId);
        const hours = { overlap_hours: Number(form.get('overlap_hours')) };
        const { overlap_hours: overlapHours } = requestFrom(RotateSecretRequest, form, hours);
        const { secret } = await this.secrets.rotate(actor, clientId, overlapHours);
        return secretPage(await this.credentials(actor, environment, clientId), secret, 'rotated');
      },
      async (problem) => rotatePage(await this.credentials(actor, environment, clientId), problem),
    );
  }

  async startActivating(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    clientId: string,
  ): Promise<PageResponse> {
    return activatePage(await this.credentials(actor, environment, clientId));
  }

  async activate(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    clientId: string,
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
