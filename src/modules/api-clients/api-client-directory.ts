import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { AttributedClient } from '../../infrastructure/http/index.js';
import { ServiceConfiguration, type PlatformEnvironment } from '../../infrastructure/config/index.js';
import type { ApiClient } from './api-client.entity.js';
import { ApiClientsRepository } from './api-clients.repository.js';

/** A client as others know it, without its secrets. */
export interface ClientRecord extends AttributedClient {
  readonly organizationId: string;
}

/** Clients remembered at once. */
const REMEMBERED_CLIENTS = 10_000;

/** Which clients there are here: on the host of one environment those of the other do not exist. */
@Injectable()
export class ApiClientDirectory {
  /** What is known of a client here never changes, and no client is ever deleted. */
  private readonly remembered = new Map<string, ClientRecord>();

  constructor(
    private readonly repository: ApiClientsRepository,
    private readonly configuration: ServiceConfiguration,
  ) {}

  async find(clientId: string): Promise<ClientRecord | undefined> {
    let client = this.remembered.get(clientId);
    if (!client && isUUID(clientId)) {
      client = known(await this.repository.client(clientId));
      if (client) this.remember(client);
    }
    return this.served(client);
  }

  /** The one client that an organization has in an environment. */
  async ofOrganization(
    organizationId: string,
    environment: PlatformEnvironment,
  ): Promise<ClientRecord | undefined> {
    return this.served(known(await this.repository.clientIn(organizationId, environment)));
  }

  private remember(client: ClientRecord): void {
    const [oldest] = this.remembered.keys();
    if (oldest !== undefined && this.remembered.size >= REMEMBERED_CLIENTS) this.remembered.delete(oldest);
    this.remembered.set(client.clientId, client);
  }

  private served(client: ClientRecord | undefined): ClientRecord | undefined {
    const { pinnedEnvironment } = this.configuration;
    return pinnedEnvironment && client?.environment !== pinnedEnvironment ? undefined : client;
  }
}

function known(client: ApiClient | null): ClientRecord | undefined {
  return client
    ? { clientId: client.id, organizationId: client.organizationId, environment: client.environment }
    : undefined;
}
