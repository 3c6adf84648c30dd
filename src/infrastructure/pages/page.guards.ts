import { Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import {
  DashboardSessionVerifier,
  SECOND_FACTOR_REQUIRED,
  sessionTokenOf,
  type DashboardIdentity,
} from '../auth/index.js';
import { ErrorKind, INVALID_ACCESS_TOKEN, NO_ACCESS } from '../errors/index.js';
import { isCrossSiteRequest, readForm, type FormOptions } from '../http/index.js';
import { FormTokens } from './form-tokens.js';
import { FORM_TOKEN_FIELD } from './parts/form.js';

export const INVALID_FORM_TOKEN = new ErrorKind(403, 'INVALID_REQUEST', 'NO_ACCESS', {
  when: 'The browser sent no cookies with the form, the form belongs to another login, or it came from another site.',
  message:
    'This form is out of date: you logged in or out, or deleted cookies, after the page was opened. Send it again.',
});
export const NO_COOKIES =
  'Your browser sent no cookies with this form. Allow cookies for this site, then send it again.';
const OTHER_SITE = 'The request comes from a page of another site.';

@Injectable()
export class PageGuard implements CanActivate {
  constructor(private readonly sessions: DashboardSessionVerifier) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const token = sessionTokenOf(request);
    const identity = token === undefined ? undefined : await this.sessions.verify(token);
    if (identity) request.user = identity;
    return true;
  }
}

/** Redirects to `/login` if the user is not logged in. */
@Injectable()
export class LoginGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (!context.switchToHttp().getRequest<Request>().user) throw INVALID_ACCESS_TOKEN.error();
    return true;
  }
}

/** Sends users who lack a second factor that their organization requires to the page that sets it up. */
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
      !isCrossSiteRequest(request) &&
      this.tokens.isValid(request, form.get(FORM_TOKEN_FIELD) ?? '', options.requiresLogin);
    if (!isValid) throw INVALID_FORM_TOKEN.error(problemOf(request));
    return true;
  }
}

function problemOf(request: Request): string | undefined {
  if (isCrossSiteRequest(request)) return OTHER_SITE;
  return request.headers.cookie ? undefined : NO_COOKIES;
}
