import { Controller, Post, Req, Res, type StreamableFile } from '@nestjs/common';
import type { Request, Response } from 'express';
import { sessionTokenOf, setSessionCookie } from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { FormBody, PageRoute, type PageResponse } from '../../../infrastructure/pages/index.js';
import { loginBrowserOf, loginTargetOf } from '../login/login-form.js';
import { loginPage } from '../login/login.pages.js';
import { LoginService } from '../login/login.service.js';
import { optionsFile } from './passkeys.controller.js';
import { PasskeysService } from './passkeys.service.js';

/** Logs in with a passkey, from the login page. */
@Controller('login/passkey')
export class PasskeyLoginController {
  constructor(
    private readonly login: LoginService,
    private readonly passkeys: PasskeysService,
  ) {}

  /** What the script passes to the browser. The same for all users. */
  @Post('options')
  @PageRoute({ login: false, form: true })
  async options(@Req() request: Request): Promise<StreamableFile> {
    return optionsFile(await this.passkeys.optionsToLogIn(loginBrowserOf(request)));
  }

  @Post()
  @PageRoute({ login: false, form: true, isOneTime: true })
  async logIn(
    @FormBody() form: FormFields,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<PageResponse> {
    const target = loginTargetOf(form);
    const credential = form.get('credential');
    if (credential === undefined) return loginPage({ ...target, passkey: 'missing' });
    const replacing = sessionTokenOf(request);
    const opened = await this.login.logInWithPasskey({ credential, ...loginBrowserOf(request), replacing });
    if (!opened) return loginPage({ ...target, passkey: 'refused' });
    setSessionCookie(response, opened.session.token, opened.session.expiresAt);
    return { redirectTo: target.next };
  }
}
