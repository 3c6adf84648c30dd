import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { requestOrigin, type FormFields } from '../../../infrastructure/http/index.js';
import type { PageAnswer } from '../../../infrastructure/pages/index.js';
import { enteredEmail } from '../entered-email.js';
import { faultOfNewPassword } from './new-password.js';
import { PasswordLinks, type Redemption } from './password-links.service.js';
import {
  addressTakenPage,
  passwordSetPage,
  resetRequestedPage,
  resetRequestPage,
  setPasswordPage,
  voidLinkPage,
} from './password-reset.pages.js';

const ANSWERS: Readonly<Record<Redemption, () => PageAnswer>> = {
  set: () => ({ redirectTo: '/password-reset/done' }),
  void: voidLinkPage,
  taken: addressTakenPage,
};

/** Leads through the pages of a password that was lost, or is the first. */
@Injectable()
export class PasswordResetFlow {
  constructor(private readonly links: PasswordLinks) {}

  begin(): PageAnswer {
    return resetRequestPage();
  }

  /** Whether there is an account is not even looked up before the answer has left. */
  async request(form: FormFields, request: Request, response: Response): Promise<PageAnswer> {
    const email = enteredEmail(form);
    if (email === undefined) return resetRequestPage({ missing: true });
    await this.links.countReset(email, requestOrigin(request));
    response.once('close', () => this.links.sendReset(email));
    return resetRequestedPage();
  }

  async show(token: unknown): Promise<PageAnswer> {
    const isGood = typeof token === 'string' && (await this.links.isGood(token));
    return isGood ? setPasswordPage({ token }) : voidLinkPage();
  }

  async set(form: FormFields, request: Request): Promise<PageAnswer> {
    const token = form.get('token') ?? '';
    const password = form.get('new_password');
    const fault = faultOfNewPassword(password);
    if (fault !== undefined || password === undefined) return setPasswordPage({ token, fault });
    return ANSWERS[await this.links.redeem(token, password, requestOrigin(request))]();
  }

  done(): PageAnswer {
    return passwordSetPage();
  }
}
