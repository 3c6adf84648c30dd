import { Controller, Post, type StreamableFile } from '@nestjs/common';
import { sessionTokenOf, setSessionCookie } from '../../../infrastructure/auth/index.js';
import { PageRoute, Visit, type PageResponse, type PageVisit } from '../../../infrastructure/pages/index.js';
import { afterLogin, loginBrowserOf, loginTargetOf } from '../login-form.js';
import { optionsFile } from '../passkeys/account-passkeys.pages.js';
import { PasskeysService } from '../passkeys/passkeys.service.js';
import { loginPage } from './login.pages.js';
import { LoginService } from './login.service.js';

@Controller('login/passkey')
export class PasskeyLoginPage {
  constructor(
    private readonly login: LoginService,
    private readonly passkeys: PasskeysService,
  ) {}

  /** Returns the options that the script passes to the browser. They are the same for all users. */
  @Post('options')
  @PageRoute({ login: false, form: true })
  async options(@Visit() { form, request }: PageVisit): Promise<StreamableFile> {
    const isOffer = form.get('mediation') !== undefined;
    return optionsFile(await this.passkeys.optionsToLogIn(loginBrowserOf(request), isOffer));
  }

  @Post()
  @PageRoute({ opener: 'kept for agents', login: false, form: true, isOneTime: true })
  async logIn(@Visit() { form, request, response }: PageVisit): Promise<PageResponse> {
    const target = loginTargetOf(form);
    const credential = form.get('credential');
    if (credential === undefined) return loginPage({ ...target, passkey: 'missing' });
    const replacing = sessionTokenOf(request);
    const opened = await this.login.logInWithPasskey({ credential, ...loginBrowserOf(request), replacing });
    if (!opened) return loginPage({ ...target, passkey: 'refused' });
    setSessionCookie(response, opened.session.token, opened.session.expiresAt);
    return afterLogin(target);
  }
}
