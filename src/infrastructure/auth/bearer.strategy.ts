import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy as PassportBearerStrategy } from 'passport-http-bearer';
import type { DashboardIdentity } from './dashboard-actor.js';

/** Port: verifies access tokens. */
export abstract class AccessTokenVerifier {
  /** @returns undefined when the token is malformed, revoked, for another audience, or its user has no access */
  abstract verify(token: string): Promise<DashboardIdentity | 'expired' | undefined>;
}

/** Verifies the access token that `DashboardAuthGuard` has read from the header. */
@Injectable()
export class BearerStrategy extends PassportStrategy(PassportBearerStrategy, 'bearer') {
  constructor(private readonly verifier: AccessTokenVerifier) {
    super();
  }

  validate(token: string): Promise<DashboardIdentity | 'expired' | undefined> {
    return this.verifier.verify(token);
  }
}
