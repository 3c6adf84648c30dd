import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import {
  currentClientOf,
  isScope,
  type AuthenticatedClient,
  type Scope,
} from '../../../infrastructure/auth/index.js';
import { bearerToken } from '../protocol/grant.js';
import { scopeNamesIn } from '../protocol/oauth-form.js';
import { INVALID_SCOPE, UNAUTHORIZED_CLIENT } from '../protocol/oauth-errors.js';
import { TOKEN_LIFETIME } from '../access-token.js';
import { AccessTokensService } from './access-tokens.service.js';
import { KeyTokenRequest, type AccessTokenResponse, type TokenGrant } from './grants.dto.js';

/** Issues an access token for the API key that authenticated the request (RFC 6749, section 4.4). */
@Injectable()
export class ClientCredentialsGrant implements TokenGrant<AuthenticatedClient, KeyTokenRequest> {
  static readonly grantType = 'client_credentials';
  static readonly authentication = 'secret';
  readonly parameters = KeyTokenRequest;

  constructor(private readonly tokens: AccessTokensService) {}

  clientOf(request: Request): AuthenticatedClient {
    return currentClientOf(request);
  }

  /** @throws OAuthError `unauthorized_client` for a secret, `invalid_scope` for a scope that the key lacks */
  async issue(client: AuthenticatedClient, parameters: KeyTokenRequest): Promise<AccessTokenResponse> {
    const { key, clientId, organizationId, environment } = client;
    if (!key) throw UNAUTHORIZED_CLIENT.error();
    const scopes = scopesFor(key, parameters);
    const token = await this.tokens.sign({
      // No user (RFC 9068, section 2.2).
      userId: clientId,
      accessVersion: 0,
      role: 'member',
      tokenId: randomUUID(),
      keyId: key.id,
      clientId,
      organizationId,
      environment,
      scopes,
    });
    return bearerToken(token, TOKEN_LIFETIME, scopes);
  }
}

/**
 * Returns the requested scopes, by default all of the key.
 *
 * @throws OAuthError `invalid_scope` for a scope that the key lacks
 */
export function scopesFor(
  key: NonNullable<AuthenticatedClient['key']>,
  { scope }: KeyTokenRequest,
): readonly Scope[] {
  const requested = scope === undefined ? [...key.scopes] : scopeNamesIn(scope);
  const scopes = requested.filter(isScope).filter((each) => key.scopes.has(each));
  const [missing] = requested.filter(isScope).filter((each) => !key.scopes.has(each));
  if (missing !== undefined) throw INVALID_SCOPE.error(`The API key lacks the scope ${missing}.`);
  if (scopes.length < requested.length || scopes.length === 0) throw INVALID_SCOPE.error();
  return scopes;
}
