import { Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { IsNull, LessThanOrEqual, Or } from 'typeorm';
import type { AuthenticatedService, TokenVerifier } from '../../infrastructure/auth/index.js';
import { isWellFormedSecret, SecretDigest, sha256 } from '../../infrastructure/crypto/index.js';
import { Transaction } from '../../infrastructure/database/index.js';
import { BackgroundTasks } from '../../infrastructure/http/index.js';
import { Clock, MINUTE, SECOND } from '../../infrastructure/time/index.js';
import { ServiceToken } from './service-token.entity.js';

/** Every process rejects a revoked token within this time. */
const CACHED_FOR = 5 * SECOND;
const MAX_CACHED_TOKENS = 1_000;

type KnownToken = AuthenticatedService & Pick<ServiceToken, 'expiresAt'>;

/** Checks service tokens. Only tokens that are not revoked are cached, under a hash of the token. */
@Injectable()
export class ServiceTokenVerifier implements TokenVerifier<AuthenticatedService> {
  private readonly logger = new Logger('ServiceTokens');
  private readonly cache = new LRUCache<string, KnownToken>({
    max: MAX_CACHED_TOKENS,
    ttl: CACHED_FOR,
    // Without rounding, and by the service's clock.
    ttlResolution: 0,
    perf: { now: () => this.clock.milliseconds() },
  });

  constructor(
    private readonly transaction: Transaction,
    private readonly digest: SecretDigest,
    private readonly tasks: BackgroundTasks,
    private readonly clock: Clock,
  ) {}

  async verify(token: string): Promise<AuthenticatedService | 'expired' | undefined> {
    const key = sha256(token).toString('base64');
    const known = this.cache.get(key) ?? (await this.load(token, key));
    return known && !isBefore(this.clock.now(), known.expiresAt) ? 'expired' : known;
  }

  private async load(token: string, key: string): Promise<KnownToken | undefined> {
    const stored = isWellFormedSecret(token)
      ? await this.transaction.manager.findOneBy(ServiceToken, { digest: this.digest.of(token) })
      : null;
    if (!stored || stored.revokedAt) return undefined;
    if (isBefore(this.clock.now(), stored.expiresAt)) this.recordUse(stored);
    const known = { expiresAt: stored.expiresAt, scopes: new Set(stored.scopes) };
    this.cache.set(key, known);
    return known;
  }

  /** At most once a minute, by one of the processes. The request does not wait for it. */
  private recordUse({ id, lastUsedAt }: ServiceToken): void {
    const now = this.clock.now();
    const aMinuteAgo = new Date(now.getTime() - MINUTE);
    if (lastUsedAt && lastUsedAt > aMinuteAgo) return;
    const notSince = Or(IsNull(), LessThanOrEqual(aMinuteAgo));
    this.tasks.begin(async () => {
      try {
        await this.transaction.manager.update(
          ServiceToken,
          { id, lastUsedAt: notSince },
          { lastUsedAt: now },
        );
      } catch (error) {
        this.logger.warn('The last use of a service token was not recorded', error);
      }
    });
  }
}

function isBefore(now: Date, end: Date | null): boolean {
  return end === null || now < end;
}
