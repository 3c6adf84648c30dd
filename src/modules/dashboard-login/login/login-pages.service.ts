import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import {
  clearSessionCookie,
  dashboardActorOf,
  sessionTokenOf,
  setSessionCookie,
  type DashboardIdentity,
} from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import type { PageResponse } from '../../../infrastructure/pages/index.js';
import { loginBrowserOf } from '../browsers/login-browser.js';
import { loginPage, secondFactorPage, type LoginPageProps } from './login.pages.js';
import { LoginService } from './login.service.js';
import { HOME, safeRedirectPath } from './safe-redirect-path.js';
import { SecondFactorLoginService } from './second-factor-login.service.js';

/** The pages of a login. */
@Injectable()
export class LoginPagesService {
  constructor(
    private readonly login: LoginService,
    private readonly secondFactorLogin: SecondFactorLoginService,
  ) {}

  /** @param again why a user who is logged in has to log in again */
  begin(next: unknown, again: unknown, { user }: Request): PageResponse {
    const known = user as DashboardIdentity | undefined;
    return loginPage({ next: safeRedirectPath(next), again: reasonIn(again), email: known?.email });
  }

  async logIn(form: FormFields, request: Request, response: Response): Promise<PageResponse> {
    const next = safeRedirectPath(form.get('next'));
    const email = emailFromForm(form);
    const password = form.get('password');
    const again = reasonIn(form.get('again'));
    if (email === undefined || password === undefined)
      return loginPage({ ...incomplete(next, email, password), again });
    const replacing = sessionTokenOf(request);
    const opened = await this.login.logIn({ email, password, ...loginBrowserOf(request), replacing });
    if (!opened) return loginPage({ next, again, email, refused: true });
    setSessionCookie(response, opened.session.token, opened.session.expiresAt);
    return { redirectTo: opened.stage === 'complete' ? next : withNext('/login/second-factor', next) };
  }

  async askSecondFactor(next: unknown, request: Request): Promise<PageResponse> {
    const user = await this.secondFactorLogin.pendingUser(sessionTokenOf(request));
    const path = safeRedirectPath(next);
    return user ? secondFactorPage({ next: path }) : { redirectTo: withNext('/login', path) };
  }

  async completeLogin(form: FormFields, request: Request, response: Response): Promise<PageResponse> {
    const next = safeRedirectPath(form.get('next'));
    const token = sessionTokenOf(request) ?? '';
    const user = await this.secondFactorLogin.pendingUser(token);
    if (!user) return { redirectTo: withNext('/login', next) };
    const code = form.get('code');
    const recoveryCode = form.get('recovery_code');
    if (code === undefined && recoveryCode === undefined) return secondFactorPage({ next, wrong: 'code' });
    const proof = recoveryCode === undefined ? { code: code ?? '' } : { recoveryCode };
    const session = await this.secondFactorLogin.complete(user, token, proof, loginBrowserOf(request));
    if (!session) return secondFactorPage({ next, wrong: 'code' in proof ? 'code' : 'recovery code' });
    setSessionCookie(response, session.token, session.expiresAt);
    return { redirectTo: next };
  }

  async logOut(request: Request, response: Response): Promise<PageResponse> {
    const token = sessionTokenOf(request);
    if (request.user && token !== undefined) await this.login.logOut(dashboardActorOf(request), token);
    clearSessionCookie(response);
    return { redirectTo: '/login' };
  }
}

function reasonIn(again: unknown): LoginPageProps['again'] {
  return again === 'page' || again === 'form' ? again : undefined;
}

function incomplete(next: string, email: string | undefined, password: string | undefined): LoginPageProps {
  return { next, email, missing: { email: email === undefined, password: password === undefined } };
}

function withNext(path: string, next: string): string {
  return next === HOME ? path : `${path}?next=${encodeURIComponent(next)}`;
}

/**
 * Returns the email address from a form, trimmed and in lowercase as it is stored; undefined if the field is blank.
 */
export function emailFromForm(form: FormFields): string | undefined {
  return form.get('email')?.trim().toLowerCase() || undefined;
}
