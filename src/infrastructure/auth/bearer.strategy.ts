import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy as PassportBearerStrategy } from 'passport-http-bearer';
import { AccessTokenVerifier } from './access-token-verifier.js';
import type { DashboardIdentity } from './dashboard-actor.js';

/** RFC 6750, section 3. */
export const BEARER_CHALLENGE = 'Bearer realm="Dashboard API"';
const INVALID_TOKEN_CHALLENGE = `${BEARER_CHALLENGE}, error="invalid_token"`;

/** RFC 6750, section 2.1, the scheme in any case. */
const BEARER = /^bearer +([\w.~+/-]+=*) *$/i;

/**
 * Passport's Bearer strategy, reading the header alone: passport-http-bearer takes tokens from query
 * parameters too, which end up in histories and logs (RFC 9700, section 4.3.2), and answers some
 * malformed headers 400.
 */
@Injectable()
export class BearerStrategy extends PassportStrategy(PassportBearerStrategy, 'bearer') {
  // Passport adds these to the strategy of each request; its types leave them out.
  declare success: (actor: DashboardIdentity) => void;
  declare fail: (challenge: string) => void;
  declare error: (error: Error) => void;

  constructor(private readonly verifier: AccessTokenVerifier) {
    super();
  }

  override authenticate(request: Request): void {
    const token = BEARER.exec(request.headers.authorization ?? '')?.[1];
    if (token === undefined) {
      this.fail(INVALID_TOKEN_CHALLENGE);
      return;
    }
    this.verifier.verify(token).then(
      (identity) => (identity ? this.success(identity) : this.fail(INVALID_TOKEN_CHALLENGE)),
      (error: Error) => this.error(error),
    );
  }

  /** Passport's own way is not used, but its Nest adapter asks for it. */
  validate(): never {
    throw new Error('The strategy verifies in authenticate()');
  }
}
