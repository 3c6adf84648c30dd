import { randomBytes } from 'node:crypto';
import {
  AccessTokenVerifier,
  BearerStrategy,
  SCOPES,
  type DashboardIdentity,
  type Scope,
} from '../../src/infrastructure/auth/index.js';
import { DashboardUsersService } from '../../src/modules/dashboard-users/index.js';
import { NOBODY } from './operations.js';
import { rememberSecret } from './run-directory.js';
import type { Login, TestApp } from './test-app.js';

class TestTokenVerifier extends AccessTokenVerifier {
  readonly identities = new Map<string, DashboardIdentity>();

  override async verify(token: string): Promise<DashboardIdentity | undefined> {
    return this.identities.get(token);
  }
}

/**
 * From now on the service takes the access tokens that the returned function makes, of production and with all
 * scopes unless it is told otherwise, and no others. How real ones come about is another matter, tested elsewhere.
 */
export function acceptAccessTokens(
  service: TestApp,
): (login: Login, scopes?: readonly Scope[]) => Promise<string> {
  const verifier = new TestTokenVerifier();
  // A strategy makes itself known to Passport.
  void new BearerStrategy(verifier);
  return async ({ userId }, scopes = SCOPES) => {
    const principal = await service.app.get(DashboardUsersService).principal(userId);
    if (!principal) throw new Error('The user is gone');
    const token = randomBytes(32).toString('base64url');
    rememberSecret(token);
    const credential = {
      kind: 'token',
      tokenId: NOBODY,
      clientId: service.production.clientId,
      environment: 'production',
      scopes: new Set(scopes),
    } as const;
    verifier.identities.set(token, { ...principal, credential });
    return token;
  };
}
