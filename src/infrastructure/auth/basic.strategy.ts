import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { BasicStrategy as PassportBasicStrategy } from 'passport-http';
import { requestContext } from '../http/index.js';
import { asSent, formDecoded, readBasicCredentials, type BasicCredentials } from './basic-credentials.js';
import { CredentialVerifier } from './ports.js';
import type { AuthenticatedClient } from './principals.js';

function ClientStrategy(name: string, decode = asSent) {
  @Injectable()
  class Strategy extends PassportStrategy(PassportBasicStrategy, name) {
    constructor(private readonly verifier: CredentialVerifier) {
      super({ passReqToCallback: true });
    }

    async validate(request: Request, clientId: string, secret: string): Promise<AuthenticatedClient | false> {
      const { authorization } = request.headers;
      const encoded = Buffer.from(`${clientId}:${secret}`).toString('base64');
      // passport-http cuts the secret at a second colon, and decodes what is not base64 or not UTF-8.
      const isExact = authorization === `Basic ${encoded}`;
      const sent = isExact ? { clientId, secret } : readBasicCredentials(authorization);
      if ('message' in sent) return false;
      return verified(this.verifier, request, decode(sent));
    }
  }
  return Strategy;
}

/** Verifies credentials, and attributes the request to their client, also if they are wrong. */
export async function verified(
  verifier: CredentialVerifier,
  request: Request,
  { clientId, secret }: BasicCredentials,
): Promise<AuthenticatedClient | false> {
  const context = requestContext(request);
  const check = await verifier.verify(clientId, secret, request).catch((error: unknown) => {
    // The failed request appears in the client's log, too.
    context.client = verifier.lastAccepted(clientId, secret);
    throw error;
  });
  if (check.client) context.client = check.client;
  if (check.accepted) {
    context.apiKey = check.client.key?.name;
    context.secretVersion = check.client.secretVersion;
  } else context.refusal = check.refusal;
  return check.accepted && check.client;
}

/** Authenticates API clients on the platform API. */
export class BasicStrategy extends ClientStrategy('basic') {}

/** Authenticates API clients at OAuth endpoints. */
export class OAuthClientStrategy extends ClientStrategy('oauth-client', formDecoded) {}
