import { Injectable, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { NO_ACCESS, type ApiError } from '../errors/index.js';
import { clearCookie, cookieOf, isChangeFromOtherSite, setCookie } from '../http/index.js';
import { FailedCredentials } from '../rate-limiting/index.js';
import { INVALID_ACCESS_TOKEN } from './auth-errors.js';
import { ACCESS_TOKEN, tokenIn } from './bearer-token.js';
import { DashboardSessionVerifier } from './ports.js';
import { TokenAuthGuard } from './token-auth.guards.js';

const SESSION_COOKIE = 'session';

/** Returns the token in the session cookie, if there is one. */
export function sessionTokenOf(request: Request): string | undefined {
  return cookieOf(request, SESSION_COOKIE);
}

/** Sets the session cookie, which expires with the session. */
export function setSessionCookie(response: Response, token: string, expires: Date): void {
  setCookie(response, SESSION_COOKIE, token, expires);
}

/** Deletes the session cookie. */
export function clearSessionCookie(response: Response): void {
  clearCookie(response, SESSION_COOKIE);
}

/** Login of a user whose organization requires a second factor that the user has not set up. */
export const SECOND_FACTOR_REQUIRED =
  'Your organization requires two-factor authentication. Set it up at /account/second-factor.';
export const CROSS_SITE_REQUEST = 'The request comes from a page of another site.';

/** The error for a login that has ended, also since the request was admitted. */
export function loginEnded(): ApiError {
  return INVALID_ACCESS_TOKEN.error('The login has ended or is not complete. Log in again.', {
    headers: { 'WWW-Authenticate': ACCESS_TOKEN.challenge },
  });
}

/**
 * Admits requests with a valid access token, or from a browser with a login. A cross-site request with a login gets 403, and so
 * does a user who lacks a second factor that the organization requires. If a request has an Authorization header, the browser's
 * login is ignored.
 */
@Injectable()
export class DashboardAuthGuard extends TokenAuthGuard('access-token', ACCESS_TOKEN) {
  constructor(
    failures: FailedCredentials,
    private readonly sessions: DashboardSessionVerifier,
  ) {
    super(failures);
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    if (request.headers.authorization !== undefined) return (await super.canActivate(context)) as boolean;
    const token = sessionTokenOf(request);
    if (token === undefined) throw tokenIn(undefined, ACCESS_TOKEN);
    const identity = await this.sessions.verify(token);
    if (!identity) throw loginEnded();
    if (isChangeFromOtherSite(request)) throw NO_ACCESS.error(CROSS_SITE_REQUEST);
    if (identity.lacksSecondFactor) throw NO_ACCESS.error(SECOND_FACTOR_REQUIRED);
    request.user = identity;
    return true;
  }
}
