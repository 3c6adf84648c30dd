import { randomBytes } from 'node:crypto';
import {
  AccessTokenStrategy,
  SCOPES,
  type DashboardIdentity,
  type Scope,
  type TokenVerifier,
} from '../../../src/infrastructure/auth/index.js';
import { DashboardUsersService } from '../../../src/modules/dashboard-users/index.js';
import { UNKNOWN_ID } from '../documents/operations.js';
import { rememberSecret } from '../runner/run-directory.js';
import type { Login, TestApp } from '../test-app.js';

class TestTokenVerifier implements TokenVerifier<DashboardIdentity> {
  readonly identities = new Map<string, DashboardIdentity>();

  async verify(token: string): Promise<DashboardIdentity | undefined> {
    return this.identities.get(token);
  }
}

/**
 * Makes the service accept only access tokens created by the returned function: for production and with all scopes
 * by default. Real access tokens are tested in access-tokens.spec.ts.
 */
export function acceptAccessTokens(
  service: TestApp,
): (login: Login, scopes?: readonly Scope[]) => Promise<string> {
  const verifier = new TestTokenVerifier();
  // Creating a strategy registers it with Passport.
  void new AccessTokenStrategy(verifier);
  return async ({ userId }, scopes = SCOPES) => {
    const principal = await service.app.get(DashboardUsersService).principal(userId);
    if (!principal) throw new Error(`The user ${userId} cannot log in`);
    const token = randomBytes(32).toString('base64url');
    rememberSecret(token);
    const credential = {
      kind: 'token',
      tokenId: UNKNOWN_ID,
      clientId: service.production.clientId,
      environment: 'production',
      scopes: new Set(scopes),
    } as const;
    verifier.identities.set(token, { ...principal, credential });
    return token;
  };
}
