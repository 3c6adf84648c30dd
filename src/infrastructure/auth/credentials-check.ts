import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { readBasicCredentials } from './basic-credentials.js';
import { ACCESS_TOKEN, tokenIn, usesBearerScheme } from './bearer-token.js';
import { CredentialVerifier, KeyTokenVerifier } from './ports.js';
import type { AuthenticatedClient } from './principals.js';
import type { Scope } from './scopes.js';

/** Returns the client of an API key, or of an access token of one, that was sent as a Bearer token. */
export async function clientOfBearer(
  verifier: KeyTokenVerifier,
  request: Request,
): Promise<AuthenticatedClient | undefined> {
  const { authorization } = request.headers;
  const token = usesBearerScheme(authorization) && tokenIn(authorization, ACCESS_TOKEN);
  return typeof token === 'string' ? verifier.clientOf(token, request) : undefined;
}

/** Checks the credentials of a request again, for responses that stay open. */
@Injectable()
export class CredentialsCheck {
  constructor(
    private readonly verifier: CredentialVerifier,
    private readonly keyTokens: KeyTokenVerifier,
  ) {}

  /**
   * @param request has been admitted with its credentials
   * @param scope that an API key must still have
   */
  async areAccepted(request: Request, scope: Scope): Promise<boolean> {
    const client = await this.clientOf(request);
    return client !== undefined && (client.key?.scopes.has(scope) ?? true);
  }

  private async clientOf(request: Request): Promise<AuthenticatedClient | undefined> {
    const credentials = readBasicCredentials(request.headers.authorization);
    if ('message' in credentials) return clientOfBearer(this.keyTokens, request);
    const check = await this.verifier.verify(credentials.clientId, credentials.secret, request);
    return check.accepted ? check.client : undefined;
  }
}
