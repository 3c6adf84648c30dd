import { Controller, Get, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { setSessionCookie } from '../../../infrastructure/auth/index.js';
import { requestOrigin, type FormFields } from '../../../infrastructure/http/index.js';
import { PageRoute, FormBody, type PageResponse } from '../../../infrastructure/pages/index.js';
import { PasswordRules } from '../../dashboard-users/index.js';
import { emailFromForm, loginBrowserOf } from '../login/login-form.js';
import { LoginService } from '../login/login.service.js';
import { HOME } from '../login/safe-redirect-path.js';
import { PasswordLinksService, type Redemption } from './password-links.service.js';
import {
  addressTakenPage,
  invalidLinkPage,
  passwordSetPage,
  resetRequestedPage,
  resetRequestPage,
  setPasswordPage,
  useProviderPage,
} from './password-reset.pages.js';

const RESPONSES: Readonly<Record<Redemption, () => PageResponse>> = {
  set: () => ({ redirectTo: '/password-reset/done' }),
  invalid: invalidLinkPage,
  taken: addressTakenPage,
};

@Controller('password-reset')
export class PasswordResetController {
  constructor(
    private readonly links: PasswordLinksService,
    private readonly login: LoginService,
    private readonly passwordRules: PasswordRules,
  ) {}

  @Get()
  @PageRoute({ login: false })
  begin(): PageResponse {
    return resetRequestPage();
  }

  /** Looks up the account only after the response, whose time must not show whether the account exists. */
  @Post()
  @PageRoute({ login: false, form: true })
  async request(
    @FormBody() form: FormFields,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<PageResponse> {
    const email = emailFromForm(form);
    if (email === undefined) return resetRequestPage(true);
    await this.links.requestReset(email, requestOrigin(request));
    response.once('close', () => this.links.beginResets());
    return resetRequestedPage();
  }

  @Get('confirm')
  @PageRoute({ login: false })
  async show(@Query('token') token: unknown, @Req() request: Request): Promise<PageResponse> {
    if (typeof token !== 'string') return invalidLinkPage();
    const user = await this.links.userOf(token);
    if (user && (await this.links.mustUseProvider(user))) return useProviderPage();
    if (user) return setPasswordPage(token, await this.links.invitationOf(user));
    // The user went back, or reloaded the page because the response to the form was lost.
    if (!(await this.links.isUsedBy(loginBrowserOf(request), token))) return invalidLinkPage();
    return request.user ? { redirectTo: HOME } : RESPONSES.set();
  }

  @Post('confirm')
  @PageRoute({ login: false, form: true, isOneTime: true })
  async set(
    @FormBody() form: FormFields,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<PageResponse> {
    const token = form.get('token') ?? '';
    const password = form.get('new_password') ?? '';
    const user = await this.links.userOf(token);
    if (!user) return invalidLinkPage();
    if (await this.links.mustUseProvider(user)) return useProviderPage();
    const error = await this.passwordRules.problemWith(password, user);
    if (error !== undefined) return setPasswordPage(token, await this.links.invitationOf(user), error);
    const browser = loginBrowserOf(request);
    const redemption = await this.links.redeem(token, password, browser);
    if (redemption !== 'set' || user.passwordHash !== null) return RESPONSES[redemption]();
    // Accepting the invitation has just proved that the user owns the mailbox.
    const opened = await this.login.logIn({ email: user.email, password, ...browser });
    if (!opened) return RESPONSES.set();
    setSessionCookie(response, opened.session.token, opened.session.expiresAt);
    return { redirectTo: HOME };
  }

  @Get('done')
  @PageRoute({ login: false })
  done(): PageResponse {
    return passwordSetPage();
  }
}
