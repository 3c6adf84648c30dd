import { Injectable } from '@nestjs/common';
import type { AuthenticatedClient } from '../../infrastructure/auth/index.js';
import { In, IsNull, Not, Or } from 'typeorm';
import { Transaction } from '../../infrastructure/database/index.js';
import { ApiClient, ApiSecret } from './api-client.entity.js';

/** A client, and the digests of its accepted secrets. */
export interface ClientWithDigests extends Omit<AuthenticatedClient, 'enabledOperations'> {
  readonly enabledOperations: string[];
  readonly digests: Buffer[];
}

@Injectable()
export class ApiClientsRepository {
  constructor(private readonly transaction: Transaction) {}

  /** @returns false if the organization already has a client for the environment */
  async addClient(client: ApiClient): Promise<boolean> {
    return this.transaction.insertNew(ApiClient, client, 'api_client_organization_environment_key');
  }

  async addSecret(secret: ApiSecret): Promise<void> {
    await this.transaction.manager.insert(ApiSecret, secret);
  }

  async clients(organizationId?: string): Promise<ApiClient[]> {
    return this.transaction.manager.find(ApiClient, {
      where: organizationId === undefined ? {} : { organizationId },
      order: { createdAt: 'ASC', id: 'ASC' },
    });
  }

  async client(
    where: Partial<Pick<ApiClient, 'id' | 'organizationId' | 'environment'>>,
  ): Promise<ApiClient | null> {
    return this.transaction.manager.findOneBy(ApiClient, where);
  }

  async clientsWithIds(ids: readonly string[]): Promise<ApiClient[]> {
    return this.transaction.manager.findBy(ApiClient, { id: In([...ids]) });
  }

  async clientWithDigests(clientId: string, now: Date): Promise<ClientWithDigests | undefined> {
    const [row] = await this.transaction.manager.query<ClientWithDigests[]>(
      `SELECT client.id AS "clientId", client.organization_id AS "organizationId", client.environment,
              client.enabled_operations AS "enabledOperations", array_agg(secret.digest) AS digests
         FROM api_client client
         JOIN api_secret secret ON secret.client_id = client.id
        WHERE client.id = $1 AND (secret.accepted_until IS NULL OR secret.accepted_until > $2)
        GROUP BY client.id`,
      [clientId, now],
    );
    return row;
  }

  /** Locks the client, so that concurrent changes of its secrets run one after another. */
  async lockClient(clientId: string): Promise<ApiClient | null> {
    return this.transaction.manager.findOne(ApiClient, {
      where: { id: clientId },
      lock: { mode: 'pessimistic_write' },
    });
  }

  /** Returns the secrets of a client, newest first. */
  async secretsOf(clientId: string): Promise<ApiSecret[]> {
    return this.transaction.manager.find(ApiSecret, { where: { clientId }, order: { version: 'DESC' } });
  }

  async changeSecret(
    id: string,
    change: Partial<Pick<ApiSecret, 'signsFrom' | 'acceptedUntil'>>,
  ): Promise<void> {
    await this.transaction.manager.update(ApiSecret, { id }, change);
  }

  /** @returns whether the client had another name */
  async rename(clientId: string, name: string): Promise<boolean> {
    const other = { id: clientId, name: Or(IsNull(), Not(name)) };
    const { affected } = await this.transaction.manager.update(ApiClient, other, { name });
    return affected === 1;
  }

  /** @returns whether the client exists */
  async enableOperation(clientId: string, operation: string): Promise<boolean> {
    const changed = await this.transaction.change(
      `UPDATE api_client SET enabled_operations = array_append(array_remove(enabled_operations, $2), $2) WHERE id = $1`,
      [clientId, operation],
    );
    return changed === 1;
  }
}
