import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { BasicStrategy as PassportBasicStrategy } from 'passport-http';
import { requestContext } from '../http/index.js';
import { CredentialVerifier, type AuthenticatedClient } from './credential-verifier.js';

/** Verifies the credentials that `BasicAuthGuard` has read from the header. */
@Injectable()
export class BasicStrategy extends PassportStrategy(PassportBasicStrategy, 'basic') {
  constructor(private readonly verifier: CredentialVerifier) {
    super({ passReqToCallback: true });
  }

  async validate(
    request: Request,
    clientId: string,
    secret: string,
  ): Promise<AuthenticatedClient | undefined> {
    const check = await this.verifier.verify(clientId, secret);
    // Also when the secret is wrong: the failed request appears in the client's log.
    requestContext(request).client = check.client;
    return check.accepted ? check.client : undefined;
  }
}
