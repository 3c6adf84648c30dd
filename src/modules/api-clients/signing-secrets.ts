import { Injectable } from '@nestjs/common';
import { Sealer } from '../../infrastructure/crypto/index.js';
import { Clock, SECOND } from '../../infrastructure/time/index.js';
import { ApiClientsRepository } from './api-clients.repository.js';
import { sealedFor } from './sealed-for.js';

/** How long a process goes on with what it knows: a rotation or activation is seen everywhere within it. */
const CACHED_FOR = 5 * SECOND;
/** Clients kept at once; beyond that all are asked for again. */
const MAX_CACHED = 10_000;

interface CachedSecret {
  readonly secret: string;
  readonly until: number;
}

/** The secrets that webhooks are signed with. */
@Injectable()
export class SigningSecrets {
  private readonly cache = new Map<string, CachedSecret>();

  constructor(
    private readonly repository: ApiClientsRepository,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
  ) {}

  /** The secret that signs at present: the newest one, unless an older one still signs while receivers learn it. */
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
