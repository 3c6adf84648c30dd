import { Injectable } from '@nestjs/common';
import { BoundedCache } from '../../infrastructure/caching/index.js';
import { Sealer } from '../../infrastructure/crypto/index.js';
import { Transaction } from '../../infrastructure/database/index.js';
import { ApiClientsRepository } from './api-clients.repository.js';
import { ApiClient, ownerOfSecret } from './api-client.entity.js';

const MAX_CACHED_SECRETS = 10_000;

/**
 * Finds the secrets that webhooks are signed with. The calling code reads from the database which versions sign, so
 * that every process notices a rotation or activation at once. A version's secret never changes, so entries don't
 * expire.
 */
@Injectable()
export class SigningSecrets {
  private readonly cache = new BoundedCache<string>({ max: MAX_CACHED_SECRETS });

  constructor(
    private readonly transaction: Transaction,
    private readonly repository: ApiClientsRepository,
    private readonly sealer: Sealer,
  ) {}

  /** Returns the secrets of these versions, at least one, in the same order. */
  async of(clientId: string, versions: readonly [number, ...number[]]): Promise<[string, ...string[]]> {
    if (this.cached(clientId, versions).length < versions.length) await this.load(clientId, versions);
    const secrets = this.cached(clientId, versions);
    if (secrets.length < versions.length) throw new Error(`The client ${clientId} lacks a secret that signs`);
    return secrets as [string, ...string[]];
  }

  private async load(clientId: string, versions: readonly number[]): Promise<void> {
    const client = await this.transaction.manager.findOneBy(ApiClient, { id: clientId });
    if (!client) return;
    for (const secret of await this.repository.secretsOf(clientId)) {
      if (!versions.includes(secret.version)) continue;
      const opened = this.sealer.open(secret.sealed, ownerOfSecret(secret, client));
      this.cache.set(`${clientId} ${secret.version}`, opened);
    }
  }

  private cached(clientId: string, versions: readonly number[]): string[] {
    return versions
      .map((version) => this.cache.get(`${clientId} ${version}`))
      .filter((secret) => secret !== undefined);
  }
}
