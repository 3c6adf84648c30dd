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
import { IdentityProviders } from './identity-providers.js';
import { emailFromForm, loginBrowserOf, loginTarget, loginTargetOf, withNext } from './login-form.js';
import { ADDRESS_STEP, addressPage, continuePage, loginPage, secondFactorPage } from './login.pages.js';
import { LoginService } from './login.service.js';
import { safeRedirectPath } from './safe-redirect-path.js';

@Controller()
export class LoginController {
  constructor(
    private readonly login: LoginService,
    private readonly sessions: DashboardSessionsService,
    private readonly providers: IdentityProviders,
  ) {}

  /**
   * Open to logged-in users too, because some operations require a recent login. Asks for the address first, unless it is known
   * that the user logs in with a password.
   *
   * @param query.again why a user who is logged in has to log in again
   * @param query.with `password` to ask for the password, too
   */
  @Get('login')
  @PageRoute({ login: false })
  async begin(@Query() query: Record<string, unknown>, @Req() request: Request): Promise<PageResponse> {
    const email = (request.user as DashboardIdentity | undefined)?.email;
    const page = { ...loginTarget(query['next'], query['again']), email };
    if (query['with'] === 'password') return loginPage(page);
    return email === undefined || (await this.providers.serve(email)) ? addressPage(page) : loginPage(page);
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
    const target = loginTargetOf(form);
    const page = { ...target, email };
    if (form.get('step') === ADDRESS_STEP) {
      if (email === undefined) return addressPage({ ...page, missing: true });
      const begun = await this.providers.begin({ email, target, ...loginBrowserOf(request) });
      return begun && 'url' in begun ? continuePage(begun) : loginPage({ ...page, ...begun });
    }
    if (email === undefined || password === undefined)
      return loginPage({
        ...page,
        missing: { email: email === undefined, password: password === undefined },
      });
    const replacing = sessionTokenOf(request);
    const opened = await this.login.logIn({ email, password, ...loginBrowserOf(request), replacing });
    if (!opened) return loginPage({ ...page, refused: true, hasProvider: await this.providers.serve(email) });
    setSessionCookie(response, opened.session.token, opened.session.expiresAt);
    const isComplete = opened.stage === 'complete';
    return { redirectTo: isComplete ? page.next : withNext('/login/second-factor', page.next) };
  }

  @Get('login/second-factor')
  @PageRoute({ login: false })
  async askSecondFactor(@Query('next') next: unknown, @Req() request: Request): Promise<PageResponse> {
    const user = await this.sessions.awaitingSecondFactor(sessionTokenOf(request));
    const path = safeRedirectPath(next);
    return user ? secondFactorPage(path) : afterFirstStep(request, path);
  }

  @Post('login/second-factor')
  @PageRoute({ login: false, form: true, isOneTime: true })
  async completeLogin(
    @FormBody() form: FormFields,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<PageResponse> {
    const next = safeRedirectPath(form.get('next'));
    const token = sessionTokenOf(request) ?? '';
    const user = await this.sessions.awaitingSecondFactor(token);
    if (!user) return afterFirstStep(request, next);
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

/** Returns where a login leads whose first step has ended: the browser has completed it already, or has to start again. */
function afterFirstStep({ user }: Request, next: string): PageResponse {
  return { redirectTo: user ? next : withNext('/login', next) };
}
