import { Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import {
  CROSS_SITE_REQUEST,
  DashboardSessionVerifier,
  INVALID_ACCESS_TOKEN,
  SECOND_FACTOR_REQUIRED,
  sessionTokenOf,
  type DashboardIdentity,
} from '../auth/index.js';
import { NO_ACCESS, type ApiError } from '../errors/index.js';
import { isChangeFromOtherSite, losesCookies, OVER_HTTP, readForm, type FormOptions } from '../http/index.js';
import { browserOf, FormTokens } from './form-tokens.js';
import { FORM_TOKEN_FIELD } from './parts/form.js';
import { INVALID_FORM_TOKEN } from './pages-errors.js';

const NO_COOKIES =
  'Your browser sent no cookies with this form. Allow cookies for this site, then send it again.';

/** The error for a form that came without cookies. */
export function withoutCookies(request: Request): ApiError {
  return INVALID_FORM_TOKEN.error(losesCookies(request) ? OVER_HTTP : NO_COOKIES);
}

/** Reads who is logged in, if anybody is. Rejects no request. */
@Injectable()
export class OptionalLoginGuard implements CanActivate {
  constructor(private readonly sessions: DashboardSessionVerifier) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const token = sessionTokenOf(request);
    const identity = token === undefined ? undefined : await this.sessions.verify(token);
    // Undefined if the login has ended since the guard ran before the body.
    Object.assign(request, { user: identity });
    return true;
  }
}

/** Rejects requests without a login, which `PageExceptionFilter` redirects to `/login`. */
@Injectable()
export class LoginGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (!context.switchToHttp().getRequest<Request>().user) throw INVALID_ACCESS_TOKEN.error();
    return true;
  }
}

/**
 * Rejects requests of users who lack a second factor that their organization requires. `PageExceptionFilter` redirects them to the page
 * that sets it up.
 */
@Injectable()
export class SecondFactorGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const user = context.switchToHttp().getRequest<Request>().user as DashboardIdentity | undefined;
    if (user?.lacksSecondFactor) throw NO_ACCESS.error(SECOND_FACTOR_REQUIRED);
    return true;
  }
}

const FORM_OPTIONS = 'form options';

export interface PageFormOptions extends FormOptions {
  /** Whether the form comes from another site, so that it has no token of ours. The handler must verify what it contains. */
  readonly fromOtherSites?: boolean;
}

interface RouteFormOptions extends PageFormOptions {
  readonly requiresLogin: boolean;
}

/** Declares how `FormGuard` reads the form of a route. */
export const ReadFormWith = (options: RouteFormOptions): MethodDecorator =>
  SetMetadata(FORM_OPTIONS, options);

/** Reads the form that was sent, and rejects forms that do not come from our own pages. */
@Injectable()
export class FormGuard implements CanActivate {
  constructor(
    private readonly tokens: FormTokens,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const options = this.reflector.get<RouteFormOptions>(FORM_OPTIONS, context.getHandler());
    const form = await readForm(request, http.getResponse<Response>(), options);
    request.body = form;
    if (options.fromOtherSites) return true;
    const isValid =
      !isChangeFromOtherSite(request) &&
      this.tokens.isValid(request, form.get(FORM_TOKEN_FIELD) ?? '', options.requiresLogin);
    if (isValid) return true;
    if (isChangeFromOtherSite(request)) throw INVALID_FORM_TOKEN.error(CROSS_SITE_REQUEST);
    // Cookies of other programs of the domain, such as web analytics, say nothing about ours.
    throw browserOf(request) === undefined ? withoutCookies(request) : INVALID_FORM_TOKEN.error();
  }
}
