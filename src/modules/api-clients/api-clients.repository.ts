import { Injectable } from '@nestjs/common';
import type { AuthenticatedClient } from '../../infrastructure/auth/index.js';
import { Transaction } from '../../infrastructure/database/index.js';
import { ApiSecret } from './api-client.entity.js';

/** A client, and one of its accepted secrets. */
export interface ClientWithSecret extends Omit<AuthenticatedClient, 'enabledOperations'> {
  readonly enabledOperations: string[];
  readonly signsOnly: boolean;
  /** The ID of the secret. */
  readonly id: string;
  readonly version: number;
  readonly digest: Buffer;
  readonly lastUsedAt: Date | null;
}

@Injectable()
export class ApiClientsRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Returns the client with each of its accepted secrets. */
  async acceptedSecrets(clientId: string, now: Date): Promise<ClientWithSecret[]> {
    return this.transaction.manager.query<ClientWithSecret[]>(
      `SELECT client.id AS "clientId", client.organization_id AS "organizationId", client.environment,
              client.enabled_operations AS "enabledOperations", client.signing_only_since IS NOT NULL AS "signsOnly",
              secret.id, secret.version, secret.digest, secret.last_used_at AS "lastUsedAt"
         FROM api_client client
         JOIN api_secret secret ON secret.client_id = client.id
        WHERE client.id = $1 AND (secret.accepted_until IS NULL OR secret.accepted_until > $2)`,
      [clientId, now],
    );
  }

  /** Returns the secrets of a client, newest first. */
  async secretsOf(clientId: string): Promise<ApiSecret[]> {
    return this.transaction.manager.find(ApiSecret, { where: { clientId }, order: { version: 'DESC' } });
  }

  /** @returns false if the client had the operation before */
  async enableOperation(clientId: string, operation: string): Promise<boolean> {
    const changed = await this.transaction.change(
      `UPDATE api_client SET enabled_operations = array_append(enabled_operations, $2)
        WHERE id = $1 AND $2 <> ALL (enabled_operations)`,
      [clientId, operation],
    );
    return changed === 1;
  }
}
