import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { LRUCache } from 'lru-cache';
import type { AttributedClient } from '../../infrastructure/http/index.js';
import { ServiceConfiguration, type PlatformEnvironment } from '../../infrastructure/config/index.js';
import type { ApiClient } from './api-client.entity.js';
import { ApiClientsRepository } from './api-clients.repository.js';

/** An API client without its secrets. */
export interface ClientRecord extends AttributedClient {
  readonly organizationId: string;
}

const MAX_CACHED_CLIENTS = 10_000;

/** Finds API clients. If `PIN_ENVIRONMENT` is set, it does not find clients of the other environment. */
@Injectable()
export class ApiClientDirectory {
  /** Records never change, and clients are never deleted, so entries don't expire. */
  private readonly cache = new LRUCache<string, ClientRecord>({ max: MAX_CACHED_CLIENTS });

  constructor(
    private readonly repository: ApiClientsRepository,
    private readonly configuration: ServiceConfiguration,
  ) {}

  async find(clientId: string): Promise<ClientRecord | undefined> {
    let client = this.cache.get(clientId);
    if (!client && isUUID(clientId)) {
      client = toRecord(await this.repository.client(clientId));
      if (client) this.cache.set(clientId, client);
    }
    return this.served(client);
  }

  /** Finds the client of an organization in an environment; there is at most one. */
  async ofOrganization(
    organizationId: string,
    environment: PlatformEnvironment,
  ): Promise<ClientRecord | undefined> {
    return this.served(toRecord(await this.repository.clientIn(organizationId, environment)));
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
