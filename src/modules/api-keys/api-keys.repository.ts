import { Injectable } from '@nestjs/common';
import type { AuthenticatedClient, Scope } from '../../infrastructure/auth/index.js';
import { Transaction } from '../../infrastructure/database/index.js';

/** A key, and the client that it belongs to. */
export interface KeyWithClient extends Omit<AuthenticatedClient, 'enabledOperations' | 'key'> {
  readonly id: string;
  readonly name: string;
  readonly scopes: Scope[];
  readonly ipRanges: string[];
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly enabledOperations: string[];
}

/** A client, and the key with which a request was sent in its name. */
export interface ClaimedKey extends Pick<AuthenticatedClient, 'clientId' | 'environment' | 'organizationId'> {
  /** Null if there is no such key. */
  readonly key: KeyWithClient | null;
}

const KEY = `SELECT key.id, key.name, key.scopes, key.ip_ranges AS "ipRanges", key.last_used_at AS "lastUsedAt",
                    key.expires_at AS "expiresAt", key.revoked_at AS "revokedAt", owner.id AS "clientId",
                    owner.organization_id AS "organizationId", owner.environment,
                    owner.enabled_operations AS "enabledOperations"
               FROM api_key key JOIN api_client owner ON owner.id = key.client_id`;

@Injectable()
export class ApiKeysRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Returns the key with this digest or ID, also if it has ended. */
  async find(column: 'digest' | 'id', value: Buffer | string): Promise<KeyWithClient | undefined> {
    const [row] = await this.transaction.manager.query<KeyWithClient[]>(`${KEY} WHERE key.${column} = $1`, [
      value,
    ]);
    return row;
  }

  /** Returns the client with this ID, and the key with this digest, which may be that of another client. */
  async claimed(clientId: string, digest: Buffer): Promise<ClaimedKey | undefined> {
    const [row] = await this.transaction.manager.query<
      (KeyWithClient & { readonly claimed: Omit<ClaimedKey, 'key'> })[]
    >(
      `SELECT json_build_object('clientId', client.id, 'organizationId', client.organization_id,
                                'environment', client.environment) AS claimed, key.*
         FROM api_client client LEFT JOIN (${KEY} WHERE key.digest = $2) key ON true
        WHERE client.id = $1`,
      [clientId, digest],
    );
    if (!row) return undefined;
    const { claimed, ...key } = row;
    return { ...claimed, key: (key.id as string | null) === null ? null : key };
  }
}
