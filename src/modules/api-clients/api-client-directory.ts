import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { AttributedClient } from '../../infrastructure/http/index.js';
import { ServiceConfiguration, type PlatformEnvironment } from '../../infrastructure/config/index.js';
import type { ApiClient } from './api-client.entity.js';
import { ApiClientsRepository } from './api-clients.repository.js';

/** A client without its secrets. */
export interface ClientRecord extends AttributedClient {
  readonly organizationId: string;
}

const MAX_CACHED_CLIENTS = 10_000;

/** Finds clients. On the host of one environment, the clients of the other do not exist. */
@Injectable()
export class ApiClientDirectory {
  /** Never outdated: these fields of a client never change, and clients are never deleted. */
  private readonly cache = new Map<string, ClientRecord>();

  constructor(
    private readonly repository: ApiClientsRepository,
    private readonly configuration: ServiceConfiguration,
  ) {}

  async find(clientId: string): Promise<ClientRecord | undefined> {
    let client = this.cache.get(clientId);
    if (!client && isUUID(clientId)) {
      client = toRecord(await this.repository.client(clientId));
      if (client) this.remember(client);
    }
    return this.served(client);
  }

  /** Returns the client of an organization in an environment; there is at most one. */
  async ofOrganization(
    organizationId: string,
    environment: PlatformEnvironment,
  ): Promise<ClientRecord | undefined> {
    return this.served(toRecord(await this.repository.clientIn(organizationId, environment)));
  }

  private remember(client: ClientRecord): void {
    const [oldest] = this.cache.keys();
    if (oldest !== undefined && this.cache.size >= MAX_CACHED_CLIENTS) this.cache.delete(oldest);
    this.cache.set(client.clientId, client);
  }

  private served(client: ClientRecord | undefined): ClientRecord | undefined {
    const { pinnedEnvironment } = this.configuration;
    return pinnedEnvironment && client?.environment !== pinnedEnvironment ? undefined : client;
  }
}

function toRecord(client: ApiClient | null): ClientRecord | undefined {
  return client
    ? { clientId: client.id, organizationId: client.organizationId, environment: client.environment }
    : undefined;
}
