import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { AttributedClient } from '../../infrastructure/http/index.js';
import { ServiceConfiguration, type PlatformEnvironment } from '../../infrastructure/config/index.js';
import type { ApiClient } from './api-client.entity.js';
import { ApiClientsRepository } from './api-clients.repository.js';

/** A client as others know it, without its secrets. */
export interface KnownClient extends AttributedClient {
  readonly organizationId: string;
}

/** Which clients there are here: on the host of one environment those of the other do not exist. */
@Injectable()
export class ApiClientDirectory {
  constructor(
    private readonly repository: ApiClientsRepository,
    private readonly configuration: ServiceConfiguration,
  ) {}

  async find(clientId: string): Promise<KnownClient | undefined> {
    return this.known(isUUID(clientId) ? await this.repository.client(clientId) : null);
  }

  /** The one client that an organization has in an environment. */
  async ofOrganization(
    organizationId: string,
    environment: PlatformEnvironment,
  ): Promise<KnownClient | undefined> {
    return this.known(await this.repository.clientIn(organizationId, environment));
  }

  private known(client: ApiClient | null): KnownClient | undefined {
    const { pinnedEnvironment } = this.configuration;
    if (!client || (pinnedEnvironment && client.environment !== pinnedEnvironment)) return undefined;
    const { id, organizationId, environment } = client;
    return { clientId: id, organizationId, environment };
  }
}
