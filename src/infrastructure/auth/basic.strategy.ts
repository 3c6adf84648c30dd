import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { BasicStrategy as PassportBasicStrategy } from 'passport-http';
import { requestContext } from '../http/index.js';
import { describeInvalidHeader, parseBasicCredentials } from './basic-credentials.js';
import { CredentialVerifier, type AuthenticatedClient } from './credential-verifier.js';

/** RFC 7617, section 2.1: `charset` tells clients to encode in UTF-8. */
export const BASIC_CHALLENGE = 'Basic realm="Platform API", charset="UTF-8"';

/**
 * Passport's Basic strategy with a reader of its own for the header: passport-http 0.3 cuts the
 * password at the second colon, which would accept a right secret with anything behind it, and takes
 * whatever Node.js manages to decode for base64.
 */
@Injectable()
export class BasicStrategy extends PassportStrategy(PassportBasicStrategy, 'basic') {
  // Passport adds these to the strategy of each request; its types leave them out.
  declare success: (client: AuthenticatedClient) => void;
  declare fail: (challenge: string) => void;
  declare error: (error: Error) => void;

  constructor(private readonly verifier: CredentialVerifier) {
    super({ realm: 'Platform API' });
  }

  override authenticate(request: Request): void {
    const header = request.headers.authorization;
    const credentials = parseBasicCredentials(header);
    if (!credentials) {
      requestContext(request).hint = describeInvalidHeader(header);
      this.fail(BASIC_CHALLENGE);
      return;
    }
    this.verifier.verify(credentials.clientId, credentials.secret).then(
      (check) => {
        const context = requestContext(request);
        if (check.accepted) {
          context.client = check.client;
          this.success(check.client);
        } else {
          context.client = check.client;
          context.hint = describeInvalidHeader(header);
          this.fail(BASIC_CHALLENGE);
        }
      },
      (error: Error) => this.error(error),
    );
  }

  /** Passport's own way is not used, but its Nest adapter asks for it. */
  validate(): never {
    throw new Error('The strategy verifies in authenticate()');
  }
}
