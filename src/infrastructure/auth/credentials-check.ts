import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { parseBasicCredentials } from './basic-credentials.js';
import { CredentialVerifier } from './credential-verifier.js';

/** Checks the credentials of a request again, for responses that stay open. */
@Injectable()
export class CredentialsCheck {
  constructor(private readonly verifier: CredentialVerifier) {}

  /** @param request has been admitted by `BasicAuthGuard` */
  async areAccepted(request: Request): Promise<boolean> {
    const credentials = parseBasicCredentials(request.headers.authorization);
    if (!credentials) return false;
    return (await this.verifier.verify(credentials.clientId, credentials.secret)).accepted;
  }
}
