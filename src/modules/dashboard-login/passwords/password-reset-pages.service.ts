import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { requestOrigin, type FormFields } from '../../../infrastructure/http/index.js';
import type { PageResponse } from '../../../infrastructure/pages/index.js';
import { PasswordRules } from '../../dashboard-users/index.js';
import { loginBrowserOf } from '../browsers/login-browser.js';
import { emailFromForm } from '../login/login-pages.service.js';
import { PasswordLinksService, type Redemption } from './password-links.service.js';
import {
  addressTakenPage,
  resetRequestedPage,
  resetRequestPage,
  setPasswordPage,
  invalidLinkPage,
} from './password-reset.pages.js';

const RESPONSES: Readonly<Record<Redemption, () => PageResponse>> = {
  set: () => ({ redirectTo: '/password-reset/done' }),
  invalid: invalidLinkPage,
  taken: addressTakenPage,
};

/** The pages to request a link and to set a password with it. */
@Injectable()
export class PasswordResetPagesService {
  constructor(
    private readonly links: PasswordLinksService,
    private readonly passwordRules: PasswordRules,
  ) {}

  /** Looks up the account only after the response, whose time must not show whether the account exists. */
  async request(form: FormFields, request: Request, response: Response): Promise<PageResponse> {
    const email = emailFromForm(form);
    if (email === undefined) return resetRequestPage({ missing: true });
    await this.links.countResetRequest(email, requestOrigin(request));
    response.once('close', () => this.links.sendReset(email));
    return resetRequestedPage();
  }

  async show(token: unknown): Promise<PageResponse> {
    const isValid = typeof token === 'string' && (await this.links.userOf(token)) !== null;
    return isValid ? setPasswordPage({ token }) : invalidLinkPage();
  }

  async set(form: FormFields, request: Request): Promise<PageResponse> {
    const token = form.get('token') ?? '';
    const password = form.get('new_password') ?? '';
    const user = await this.links.userOf(token);
    if (!user) return invalidLinkPage();
    const error = await this.passwordRules.problemWith(password, user);
    if (error !== undefined) return setPasswordPage({ token, error });
    return RESPONSES[await this.links.redeem(token, password, loginBrowserOf(request))]();
  }
}
