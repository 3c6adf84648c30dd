import { Injectable } from '@nestjs/common';
import type {
  DashboardIdentity,
  DashboardPrincipal,
  Scope,
  TokenVerifier,
} from '../../../infrastructure/auth/index.js';
import { ServiceConfiguration } from '../../../infrastructure/config/index.js';
import { DashboardUsersService } from '../../dashboard-users/index.js';
import { AccessTokensService, type AccessTokenClaims } from './access-tokens.service.js';
import { RevokedTokensRepository } from './revoked-tokens.repository.js';

export interface ActiveAccessToken {
  readonly claims: AccessTokenClaims;
  /** With the current role, which may have changed since the token was issued. */
  readonly user: DashboardPrincipal;
}

/**
 * Verifies access tokens. Revocation and the user are looked up for each request, so that revoking a token or ending the
 * access of its user takes effect in every process with the next request; only verified signatures are cached.
 */
@Injectable()
export class ActiveAccessTokenVerifier implements TokenVerifier<DashboardIdentity> {
  constructor(
    private readonly tokens: AccessTokensService,
    private readonly repository: RevokedTokensRepository,
    private readonly users: DashboardUsersService,
    private readonly configuration: ServiceConfiguration,
  ) {}

  /** @returns undefined if the token is invalid or revoked, or if its user has lost access */
  async find(token: string): Promise<ActiveAccessToken | 'expired' | undefined> {
    const claims = await this.tokens.read(token);
    if (claims === 'expired') return claims;
    // With `PIN_ENVIRONMENT`, tokens of the other environment are not valid.
    if (!claims || !this.configuration.environments.includes(claims.environment)) return undefined;
    const [isRevoked, user] = await Promise.all([
      this.repository.isRevoked(claims.jti),
      this.users.principal(claims.sub),
    ]);
    const hasEnded = user?.organizationId !== claims.org || user.accessVersion !== claims.access_version;
    return isRevoked || hasEnded ? undefined : { claims, user };
  }

  async verify(token: string): Promise<DashboardIdentity | 'expired' | undefined> {
    const active = await this.find(token);
    if (!active || active === 'expired') return active;
    const { claims, user } = active;
    return {
      ...user,
      credential: {
        kind: 'token',
        tokenId: claims.jti,
        clientId: claims.client_id,
        environment: claims.environment,
        scopes: new Set(claims.scope.split(' ') as Scope[]),
      },
    };
  }
}
