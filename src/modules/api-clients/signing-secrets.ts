import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Sealer } from '../../infrastructure/crypto/index.js';
import { Clock, SECOND } from '../../infrastructure/time/index.js';
import { ApiClientsRepository } from './api-clients.repository.js';
import { sealedFor } from './sealed-for.js';

/** Every process notices a rotation or activation within this time. */
const CACHED_FOR = 5 * SECOND;
const MAX_CACHED_SECRETS = 10_000;

/** Finds the secrets that webhooks are signed with. */
@Injectable()
export class SigningSecrets {
  private readonly cache = new LRUCache<string, string>({
    max: MAX_CACHED_SECRETS,
    ttl: CACHED_FOR,
    ttlResolution: 0,
    perf: { now: () => this.clock.milliseconds() },
  });

  constructor(
    private readonly repository: ApiClientsRepository,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
  ) {}

  /** Returns the secret that signs now: the newest one, or an older one while receivers are being updated. */
  async of(clientId: string): Promise<string> {
    const cached = this.cache.get(clientId);
    if (cached !== undefined) return cached;
    const client = await this.repository.client(clientId);
    const now = this.clock.now();
    const signing = (await this.repository.secretsOf(clientId)).find(({ signsFrom }) => signsFrom <= now);
    if (!client || !signing) throw new Error(`The client ${clientId} has no secret that signs`);
    const secret = this.sealer.open(signing.sealed, sealedFor(signing, client));
    this.cache.set(clientId, secret);
    return secret;
  }
}
