import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { AttributedClient } from '../../infrastructure/http/index.js';
import { ServiceConfiguration } from '../../infrastructure/config/index.js';
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
    const client = isUUID(clientId) ? await this.repository.client(clientId) : null;
    const { pinnedEnvironment } = this.configuration;
    if (!client || (pinnedEnvironment && client.environment !== pinnedEnvironment)) return undefined;
    const { id, organizationId, environment } = client;
    return { clientId: id, organizationId, environment };
  }
}
