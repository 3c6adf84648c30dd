import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy as PassportBearerStrategy } from 'passport-http-bearer';
import { ExpiredToken, hasBearerTokenSyntax } from './bearer-token.js';
import type { TokenVerifier } from './ports.js';
import type { AuthenticatedAgent, AuthenticatedService, DashboardIdentity } from './principals.js';

/** The part of a request that `TokenAuthGuard` shows to passport-http-bearer. */
export interface ShownRequest extends Pick<Request, 'headers'> {
  readonly whole: Request;
}

type TokenStrategyClass<User> = new (verifier: TokenVerifier<User>) => {
  validate(request: ShownRequest, token: string): Promise<User | false>;
};

function TokenStrategy<User extends object>(name: string): TokenStrategyClass<User> {
  return class extends PassportStrategy(PassportBearerStrategy, name) {
    constructor(private readonly verifier: TokenVerifier<User>) {
      super({ passReqToCallback: true });
    }

    /** @throws ExpiredToken */
    async validate({ whole }: ShownRequest, token: string): Promise<User | false> {
      const user = hasBearerTokenSyntax(token) && (await this.verifier.verify(token, whole));
      if (user === 'expired') throw new ExpiredToken();
      return user || false;
    }
  };
}

/** Authenticates dashboard users by the access tokens of the device flow. */
export class AccessTokenStrategy extends TokenStrategy<DashboardIdentity>('access-token') {}

/** Authenticates the platform's own services. */
export class ServiceTokenStrategy extends TokenStrategy<AuthenticatedService>('service-token') {}

/** Authenticates agents. */
export class McpTokenStrategy extends TokenStrategy<AuthenticatedAgent>('mcp-token') {}
