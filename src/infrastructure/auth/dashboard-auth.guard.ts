import { Injectable, type ExecutionContext } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import type { Request } from 'express';
import { INVALID_ACCESS_TOKEN, NO_ACCESS } from '../errors/index.js';
import { isCrossSiteRequest } from '../http/index.js';
import { BEARER_CHALLENGE } from './bearer.strategy.js';
import { DashboardSessionVerifier } from './dashboard-session-verifier.js';
import { sessionTokenOf } from './session-cookie.js';

/** Said of a request that a page of somebody else's made the browser send. */
export const CROSS_SITE_REQUEST = 'The request comes from a page of another site.';

/**
 * Lets in who presents an access token, or is logged in in this browser; everyone else gets one and the
 * same 401. A token that is presented counts alone, whatever the browser says beside it.
 */
@Injectable()
export class DashboardAuthGuard extends AuthGuard('bearer') {
  constructor(private readonly sessions: DashboardSessionVerifier) {
    super();
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    if (request.headers.authorization !== undefined) return (await super.canActivate(context)) as boolean;
    const token = sessionTokenOf(request);
    const identity = token === undefined ? undefined : await this.sessions.verify(token);
    if (!identity) throw unauthorized(BEARER_CHALLENGE);
    if (isCrossSiteRequest(request)) throw NO_ACCESS.error(CROSS_SITE_REQUEST);
    request.user = identity;
    return true;
  }

  override handleRequest<Identity>(error: unknown, identity: Identity): Identity {
    if (error) throw error;
    if (!identity) throw unauthorized(`${BEARER_CHALLENGE}, error="invalid_token"`);
    return identity;
  }
}

function unauthorized(challenge: string): Error {
  return INVALID_ACCESS_TOKEN.error(undefined, { headers: { 'WWW-Authenticate': challenge } });
}
