import { Injectable } from '@nestjs/common';
import type { AuthenticatedService, TokenVerifier } from '../../infrastructure/auth/index.js';
import {
  AcceptedCredentials,
  cacheKeyOf,
  isBefore,
  IssuedTokens,
} from '../../infrastructure/issued-tokens/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { ServiceToken } from './service-token.entity.js';

type KnownToken = AuthenticatedService & Pick<ServiceToken, 'expiresAt'>;

/** Checks service tokens. Only tokens that are not revoked are cached. */
@Injectable()
export class ServiceTokenVerifier implements TokenVerifier<AuthenticatedService> {
  private readonly cache = new AcceptedCredentials<KnownToken>(this.clock);

  constructor(
    private readonly tokens: IssuedTokens,
    private readonly clock: Clock,
  ) {}

  async verify(token: string): Promise<AuthenticatedService | 'expired' | undefined> {
    const key = cacheKeyOf(token);
    const known = this.cache.get(key) ?? (await this.load(token, key));
    return known && !isBefore(this.clock.now(), known.expiresAt) ? 'expired' : known;
  }

  private async load(token: string, key: string): Promise<KnownToken | undefined> {
    const stored = await this.tokens.find(ServiceToken, token);
    if (!stored || stored.revokedAt) return undefined;
    if (isBefore(this.clock.now(), stored.expiresAt)) this.tokens.recordUse(ServiceToken, stored);
    const known = { expiresAt: stored.expiresAt, scopes: new Set(stored.scopes) };
    this.cache.set(key, known);
    return known;
  }
}
