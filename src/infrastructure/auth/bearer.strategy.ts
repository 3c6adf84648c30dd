import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy as PassportBearerStrategy } from 'passport-http-bearer';
import { AccessTokenVerifier } from './access-token-verifier.js';
import type { DashboardIdentity } from './dashboard-actor.js';

/** Verifies the access token that `DashboardAuthGuard` has read from the header. */
@Injectable()
export class BearerStrategy extends PassportStrategy(PassportBearerStrategy, 'bearer') {
  constructor(private readonly verifier: AccessTokenVerifier) {
    super();
  }

  validate(token: string): Promise<DashboardIdentity | undefined> {
    return this.verifier.verify(token);
  }
}
