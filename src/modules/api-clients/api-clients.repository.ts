import { Injectable } from '@nestjs/common';
import type { AuthenticatedClient } from '../../infrastructure/auth/index.js';
import { Transaction } from '../../infrastructure/database/index.js';
import { ApiSecret } from './api-client.entity.js';

/** A client, and the digests of its accepted secrets. */
export interface ClientWithDigests extends Omit<AuthenticatedClient, 'enabledOperations'> {
  readonly enabledOperations: string[];
  readonly digests: Buffer[];
}

@Injectable()
export class ApiClientsRepository {
  constructor(private readonly transaction: Transaction) {}

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

  /** Returns the secrets of a client, newest first. */
  async secretsOf(clientId: string): Promise<ApiSecret[]> {
    return this.transaction.manager.find(ApiSecret, { where: { clientId }, order: { version: 'DESC' } });
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
