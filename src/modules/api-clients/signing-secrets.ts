import { Injectable } from '@nestjs/common';
import { Sealer } from '../../infrastructure/crypto/index.js';
import { Clock, SECOND } from '../../infrastructure/time/index.js';
import { ApiClientsRepository } from './api-clients.repository.js';
import { sealedFor } from './sealed-for.js';

/** After a rotation or activation, other processes sign with the old secret for up to this long. */
const CACHED_FOR = 5 * SECOND;
/** Maximum number of cached secrets; one more clears the cache. */
const MAX_CACHED = 10_000;

interface CachedSecret {
  readonly secret: string;
  readonly until: number;
}

/** Provides the secrets that sign webhooks. */
@Injectable()
export class SigningSecrets {
  private readonly cache = new Map<string, CachedSecret>();

  constructor(
    private readonly repository: ApiClientsRepository,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
  ) {}

  /** Returns the current signing secret, which is the newest one except during a rotation. */
  async of(clientId: string): Promise<string> {
    const cached = this.cache.get(clientId);
    if (cached && cached.until > this.clock.milliseconds()) return cached.secret;
    const client = await this.repository.client(clientId);
    const now = this.clock.now();
    const signing = (await this.repository.secretsOf(clientId)).find(({ signsFrom }) => signsFrom <= now);
    if (!client || !signing) throw new Error(`The client ${clientId} has no secret that signs`);
    const secret = this.sealer.open(signing.sealed, sealedFor(signing, client));
    if (this.cache.size >= MAX_CACHED) this.cache.clear();
    this.cache.set(clientId, { secret, until: this.clock.milliseconds() + CACHED_FOR });
    return secret;
  }
}
