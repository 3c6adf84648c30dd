import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type {
  AuthenticatedClient,
  DashboardIdentity,
  KeyTokenVerifier,
  Scope,
  TokenVerifier,
} from '../../../infrastructure/auth/index.js';
import { ServiceConfiguration } from '../../../infrastructure/config/index.js';
import { ApiKeyVerifier, clientOfKey } from '../../api-keys/index.js';
import { DashboardUsersService } from '../../dashboard-users/index.js';
import { AccessTokensService, type AccessTokenClaims } from './access-tokens.service.js';
import { RevokedTokensRepository } from '../revoked-tokens.repository.js';

export interface ActiveAccessToken {
  readonly claims: AccessTokenClaims;
  /** With the current role, which may have changed since the token was issued. */
  readonly identity: DashboardIdentity;
}

/**
 * Verifies access tokens, and API keys in their place. Revocation and the user are looked up for each request, so that revoking a token or ending the
 * access of its user takes effect in every process with the next request; only verified signatures are cached.
 */
@Injectable()
export class ActiveAccessTokenVerifier implements TokenVerifier<DashboardIdentity>, KeyTokenVerifier {
  constructor(
    private readonly tokens: AccessTokensService,
    private readonly repository: RevokedTokensRepository,
    private readonly users: DashboardUsersService,
    private readonly keys: ApiKeyVerifier,
    private readonly configuration: ServiceConfiguration,
  ) {}

  /**
   * @param request that the token was sent with, if it authenticates one
   * @returns undefined if the token is invalid or revoked, or if its user has lost access
   */
  async find(token: string, request?: Request): Promise<ActiveAccessToken | 'expired' | undefined> {
    const claims = await this.tokens.read(token);
    if (claims === 'expired') return claims;
    // With `PIN_ENVIRONMENT`, tokens of the other environment are not valid.
    if (!claims || !this.configuration.environments.includes(claims.environment)) return undefined;
    const [isRevoked, identity] = await Promise.all([
      this.repository.isRevoked(claims.jti),
      claims.key_id === undefined
        ? this.identityOf(claims)
        : this.keys.identifyById(claims.key_id, claims.scope.split(' '), request),
    ]);
    return isRevoked || !identity ? undefined : { claims, identity };
  }

  async verify(token: string, request: Request): Promise<DashboardIdentity | 'expired' | undefined> {
    if (this.keys.isKey(token)) return this.keys.identify(token, request);
    const active = await this.find(token, request);
    return !active || active === 'expired' ? active : active.identity;
  }

  async clientOf(token: string, request: Request): Promise<AuthenticatedClient | undefined> {
    const identity = await this.verify(token, request);
    return identity === 'expired' ? undefined : clientOfKey(identity);
  }

  private async identityOf(claims: AccessTokenClaims): Promise<DashboardIdentity | undefined> {
    const user = await this.users.principal(claims.sub);
    if (user?.organizationId !== claims.org || user.accessVersion !== claims.access_version) return undefined;
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
