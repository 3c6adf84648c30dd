import { Controller, Get, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import {
  clearSessionCookie,
  dashboardActorOf,
  sessionTokenOf,
  setSessionCookie,
  type DashboardIdentity,
} from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { PageRoute, FormBody, type PageResponse } from '../../../infrastructure/pages/index.js';
import { DashboardSessionsService } from '../sessions/dashboard-sessions.service.js';
import { emailFromForm, loginBrowserOf, loginTarget, loginTargetOf } from './login-form.js';
import { loginPage, secondFactorPage } from './login.pages.js';
import { LoginService } from './login.service.js';
import { HOME, safeRedirectPath } from './safe-redirect-path.js';

@Controller()
export class LoginController {
  constructor(
    private readonly login: LoginService,
    private readonly sessions: DashboardSessionsService,
  ) {}

  /**
   * Open to logged-in users too, because some operations require a recent login.
   *
   * @param again why a user who is logged in has to log in again
   */
  @Get('login')
  @PageRoute({ login: false })
  begin(@Query('next') next: unknown, @Query('again') again: unknown, @Req() request: Request): PageResponse {
    const user = request.user as DashboardIdentity | undefined;
    return loginPage({ ...loginTarget(next, again), email: user?.email });
  }

  @Post('login')
  @PageRoute({ login: false, form: true })
  async logIn(
    @FormBody() form: FormFields,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<PageResponse> {
    const email = emailFromForm(form);
    const password = form.get('password');
    const page = { ...loginTargetOf(form), email };
    if (email === undefined || password === undefined)
      return loginPage({
        ...page,
        missing: { email: email === undefined, password: password === undefined },
      });
    const replacing = sessionTokenOf(request);
    const opened = await this.login.logIn({ email, password, ...loginBrowserOf(request), replacing });
    if (!opened) return loginPage({ ...page, refused: true });
    setSessionCookie(response, opened.session.token, opened.session.expiresAt);
    const isComplete = opened.stage === 'complete';
    return { redirectTo: isComplete ? page.next : withNext('/login/second-factor', page.next) };
  }

  @Get('login/second-factor')
  @PageRoute({ login: false })
  async askSecondFactor(@Query('next') next: unknown, @Req() request: Request): Promise<PageResponse> {
    const user = await this.sessions.awaitingSecondFactor(sessionTokenOf(request));
    const path = safeRedirectPath(next);
    return user ? secondFactorPage(path) : { redirectTo: withNext('/login', path) };
  }

  @Post('login/second-factor')
  @PageRoute({ login: false, form: true })
  async completeLogin(
    @FormBody() form: FormFields,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<PageResponse> {
    const next = safeRedirectPath(form.get('next'));
    const token = sessionTokenOf(request) ?? '';
    const user = await this.sessions.awaitingSecondFactor(token);
    if (!user) return { redirectTo: withNext('/login', next) };
    const code = form.get('code');
    const recoveryCode = form.get('recovery_code');
    if (code === undefined && recoveryCode === undefined) return secondFactorPage(next, 'code');
    const proof = recoveryCode === undefined ? { code: code ?? '' } : { recoveryCode };
    const session = await this.login.complete(user, token, proof, loginBrowserOf(request));
    if (!session) return secondFactorPage(next, 'code' in proof ? 'code' : 'recovery code');
    setSessionCookie(response, session.token, session.expiresAt);
    return { redirectTo: next };
  }

  @Post('logout')
  @PageRoute({ login: false, form: true })
  async logOut(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<PageResponse> {
    const token = sessionTokenOf(request);
    if (request.user && token !== undefined) await this.sessions.logOut(dashboardActorOf(request), token);
    clearSessionCookie(response);
    return { redirectTo: '/login' };
  }
}

function withNext(path: string, next: string): string {
  return next === HOME ? path : `${path}?next=${encodeURIComponent(next)}`;
}
