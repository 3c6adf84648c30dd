import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { requestOrigin, type FormFields } from '../../../infrastructure/http/index.js';
import type { PageResponse } from '../../../infrastructure/pages/index.js';
import { emailFromForm } from '../login/login-pages.service.js';
import { validateNewPassword } from './new-password.js';
import { PasswordLinksService, type Redemption } from './password-links.service.js';
import {
  addressTakenPage,
  resetRequestedPage,
  resetRequestPage,
  setPasswordPage,
  invalidLinkPage,
} from './password-reset.pages.js';

const ANSWERS: Readonly<Record<Redemption, () => PageResponse>> = {
  set: () => ({ redirectTo: '/password-reset/done' }),
  void: invalidLinkPage,
  taken: addressTakenPage,
};

/** Leads through the pages of a password that was lost, or is the first. */
@Injectable()
export class PasswordResetPagesService {
  constructor(private readonly links: PasswordLinksService) {}

  /** Whether there is an account is not even looked up before the answer has left. */
  async request(form: FormFields, request: Request, response: Response): Promise<PageResponse> {
    const email = emailFromForm(form);
    if (email === undefined) return resetRequestPage({ missing: true });
    await this.links.countReset(email, requestOrigin(request));
    response.once('close', () => this.links.sendReset(email));
    return resetRequestedPage();
  }

  async show(token: unknown): Promise<PageResponse> {
    const isGood = typeof token === 'string' && (await this.links.isGood(token));
    return isGood ? setPasswordPage({ token }) : invalidLinkPage();
  }

  async set(form: FormFields, request: Request): Promise<PageResponse> {
    const token = form.get('token') ?? '';
    const password = form.get('new_password');
    const fault = validateNewPassword(password);
    if (fault !== undefined || password === undefined) return setPasswordPage({ token, fault });
    return ANSWERS[await this.links.redeem(token, password, requestOrigin(request))]();
  }
}
