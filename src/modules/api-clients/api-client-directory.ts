import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { In } from 'typeorm';
import { BoundedCache } from '../../infrastructure/caching/index.js';
import { ServiceConfiguration, type PlatformEnvironment } from '../../infrastructure/config/index.js';
import { Transaction } from '../../infrastructure/database/index.js';
import type { AttributedClient } from '../../infrastructure/http/index.js';
import { ApiClient } from './api-client.entity.js';

export interface ClientRecord extends AttributedClient {
  readonly organizationId: string;
}

const MAX_CACHED_CLIENTS = 10_000;

/** Finds API clients. If `PIN_ENVIRONMENT` is set, only `nameOf` and `organizationsOf` find clients of the other environment. */
@Injectable()
export class ApiClientDirectory {
  /** The records never change, and clients are never deleted, so entries don't expire. */
  private readonly cache = new BoundedCache<ClientRecord>({ max: MAX_CACHED_CLIENTS });

  constructor(
    private readonly transaction: Transaction,
    private readonly configuration: ServiceConfiguration,
  ) {}

  async find(clientId: string): Promise<ClientRecord | undefined> {
    if (!isUUID(clientId)) return undefined;
    return this.ifServed((await this.load([clientId])).get(clientId.toLowerCase()));
  }

  /** Finds clients by ID. Unknown IDs are absent. One statement reads all clients that are not cached. */
  async findAll(clientIds: readonly string[]): Promise<Map<string, ClientRecord>> {
    const loaded = await this.load(clientIds);
    return new Map(
      clientIds.flatMap((id) => {
        const client = this.ifServed(loaded.get(id.toLowerCase()));
        return client ? [[id, client] as const] : [];
      }),
    );
  }

  /** Finds the client of an organization in an environment; there is at most one. */
  async ofOrganization(
    organizationId: string,
    environment: PlatformEnvironment,
  ): Promise<ClientRecord | undefined> {
    const client = await this.transaction.manager.findOneBy(ApiClient, { organizationId, environment });
    return this.ifServed(client ? toRecord(client) : undefined);
  }

  /** Returns what the organization calls a client that exists, or else its environment in words. */
  async nameOf(clientId: string): Promise<string> {
    const client = await this.transaction.manager.findOneBy(ApiClient, { id: clientId });
    return (
      client?.name ?? (client?.environment === 'production' ? 'Production client' : 'Development client')
    );
  }

  /**
   * Returns the organizations of clients: events are published for both environments, whichever this deployment serves. Unknown IDs are
   * absent. One statement reads all clients that are not cached.
   */
  async organizationsOf(clientIds: readonly string[]): Promise<Map<string, string>> {
    const loaded = await this.load(clientIds);
    return new Map(
      clientIds.flatMap((id) => {
        const client = loaded.get(id.toLowerCase());
        return client ? [[id, client.organizationId] as const] : [];
      }),
    );
  }

  private async load(clientIds: readonly string[]): Promise<Map<string, ClientRecord>> {
    // As PostgreSQL spells UUIDs.
    const ids = new Set(clientIds.map((id) => id.toLowerCase()));
    // Read now: other requests may displace an entry during the query.
    const cached = [...ids].map((id) => this.cache.get(id)).filter((client) => client !== undefined);
    const loaded = new Map(cached.map((client) => [client.clientId, client]));
    const unknown = [...ids].filter((id) => !loaded.has(id));
    if (unknown.length === 0) return loaded;
    for (const client of await this.transaction.manager.findBy(ApiClient, { id: In(unknown) })) {
      this.cache.set(client.id, toRecord(client));
      loaded.set(client.id, toRecord(client));
    }
    return loaded;
  }

  private ifServed(client: ClientRecord | undefined): ClientRecord | undefined {
    return client && this.configuration.environments.includes(client.environment) ? client : undefined;
  }
}

function toRecord({ id, organizationId, environment }: ApiClient): ClientRecord {
  return { clientId: id, organizationId, environment };
}
