import { Controller, Get, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { requestOrigin, type FormFields } from '../../../infrastructure/http/index.js';
import { PageRoute, FormBody, type PageResponse } from '../../../infrastructure/pages/index.js';
import { PasswordRules } from '../../dashboard-users/index.js';
import { emailFromForm, loginBrowserOf } from '../login/login-form.js';
import { PasswordLinksService, type Redemption } from './password-links.service.js';
import {
  addressTakenPage,
  invalidLinkPage,
  passwordSetPage,
  resetRequestedPage,
  resetRequestPage,
  setPasswordPage,
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
    await this.links.countResetRequest(email, requestOrigin(request));
    response.once('close', () => this.links.sendReset(email));
    return resetRequestedPage();
  }

  @Get('confirm')
  @PageRoute({ login: false })
  async show(@Query('token') token: unknown): Promise<PageResponse> {
    const isValid = typeof token === 'string' && (await this.links.userOf(token)) !== null;
    return isValid ? setPasswordPage(token) : invalidLinkPage();
  }

  @Post('confirm')
  @PageRoute({ login: false, form: true })
  async set(@FormBody() form: FormFields, @Req() request: Request): Promise<PageResponse> {
    const token = form.get('token') ?? '';
    const password = form.get('new_password') ?? '';
    const user = await this.links.userOf(token);
    if (!user) return invalidLinkPage();
    const error = await this.passwordRules.problemWith(password, user);
    if (error !== undefined) return setPasswordPage(token, error);
    return RESPONSES[await this.links.redeem(token, password, loginBrowserOf(request))]();
  }

  @Get('done')
  @PageRoute({ login: false })
  done(): PageResponse {
    return passwordSetPage();
  }
}
