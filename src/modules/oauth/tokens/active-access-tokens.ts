import { Injectable } from '@nestjs/common';
import {
  AccessTokenVerifier,
  type DashboardIdentity,
  type DashboardPrincipal,
  type Scope,
} from '../../../infrastructure/auth/index.js';
import { ServiceConfiguration } from '../../../infrastructure/config/index.js';
import { DashboardUsersService } from '../../dashboard-users/index.js';
import { AccessTokens, type AccessTokenClaims } from './access-tokens.js';
import { RevokedAccessTokensRepository } from './revoked-access-tokens.repository.js';

/** A token that is good now, and whose it is. */
export interface ActiveAccessToken {
  readonly claims: AccessTokenClaims;
  /** With the role of now, which may have changed since the token was issued. */
  readonly user: DashboardPrincipal;
}

/**
 * Says what an access token is good for at this moment. Only the signature is remembered between two calls: who is
 * removed or disabled, and a token that is revoked, are out with the next one, in every process.
 */
@Injectable()
export class ActiveAccessTokens extends AccessTokenVerifier {
  constructor(
    private readonly tokens: AccessTokens,
    private readonly revoked: RevokedAccessTokensRepository,
    private readonly users: DashboardUsersService,
    private readonly configuration: ServiceConfiguration,
  ) {
    super();
  }

  /** @returns undefined when the token is not ours, has expired, was revoked, or its user has left */
  async find(token: string): Promise<ActiveAccessToken | undefined> {
    const claims = await this.tokens.read(token);
    if (!claims || !this.isServedHere(claims)) return undefined;
    const [isRevoked, user] = await Promise.all([
      this.revoked.has(claims.jti),
      this.users.principal(claims.sub),
    ]);
    return isRevoked || user?.organizationId !== claims.org ? undefined : { claims, user };
  }

  override async verify(token: string): Promise<DashboardIdentity | undefined> {
    const live = await this.find(token);
    if (!live) return undefined;
    const { claims, user } = live;
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

  /** On the host of one environment the tokens of the other do not exist. */
  private isServedHere({ environment }: AccessTokenClaims): boolean {
    const { pinnedEnvironment } = this.configuration;
    return !pinnedEnvironment || environment === pinnedEnvironment;
  }
}
