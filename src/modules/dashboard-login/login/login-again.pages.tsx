import { Controller, Get, Post } from '@nestjs/common';
import type { Request } from 'express';
import type { DashboardIdentity } from '../../../infrastructure/auth/index.js';
import { INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import {
  FORM_TOKEN_FIELD,
  FormTokens,
  PageRoute,
  SendAgain,
  sentFormOf,
  Visit,
  type Page,
  type PageResponse,
  type PageVisit,
  type SentForm,
} from '../../../infrastructure/pages/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { IdentityProviders } from '../identity-providers.js';
import { loginTarget } from '../login-form.js';
import { HOME, safeRedirectPath } from '../safe-redirect-path.js';
import { PasskeysService } from '../passkeys/passkeys.service.js';
import { loginPage } from './login.pages.js';

/** The form that is sent after the login. */
interface KeptForm extends SentForm {
  /** The ID of the user who sent the form. Nobody else may see it. */
  readonly by: string;
  readonly to: string;
}

/**
 * The login before a form that requires a recent one. With the script, a dialog shows the pages of the login over the form, and ends
 * with `account/logged-in`. Without it, the form arrives here, passes the steps of the login in a field, and is sent again.
 */
@Controller()
export class LoginAgainPage {
  constructor(
    private readonly tokens: FormTokens,
    private readonly providers: IdentityProviders,
    private readonly passkeys: PasskeysService,
    private readonly clock: Clock,
  ) {}

  /** Returns the age of the login for the script. The forms of the response have the token of the login. */
  @Get('account/logged-in')
  @PageRoute({ login: true, withoutSecondFactor: true })
  loggedIn(@Visit() { actor: { credential } }: PageVisit): Page {
    const since = credential.kind === 'session' ? credential.authenticatedAt.getTime() : 0;
    return {
      title: 'You are logged in',
      content: (
        <p data-login-age={this.clock.milliseconds() - since}>
          Close this tab, and continue where you left off. <a href="/dashboard">Go to the overview</a>
        </p>
      ),
    };
  }

  /** The browser opens the address of a form, for example when the user reloads the response to it. */
  @Get(['login/again', 'login/continue', 'login/passkey'])
  @PageRoute({ opener: 'kept for agents', login: false })
  start(): PageResponse {
    return { redirectTo: '/login' };
  }

  /** Receives a form that was refused because the login is not recent. */
  @Post('login/again')
  @PageRoute({ login: false, form: true, isNeverStored: true })
  async ask(@Visit() { form, query, request }: PageVisit): Promise<PageResponse> {
    const { user } = request;
    const target = loginTarget(query['next'], 'form');
    const start = (again: object) => ({
      redirectTo: `/login?${new URLSearchParams({ next: target.next, ...again })}`,
    });
    if (!isUser(user)) return start({});
    // The form was refused before its token was read: another user of this browser may have entered it.
    if (!this.tokens.isOfUser(form.get(FORM_TOKEN_FIELD) ?? '', user)) return start({ again: 'form' });
    const kept: KeptForm = {
      by: user.userId,
      to: safeRedirectPath(query['to']),
      ...sentFormOf(form),
    };
    return loginPage({
      ...target,
      sent: JSON.stringify(kept),
      email: user.email,
      hasPasskey: (await this.passkeys.count(user.userId)) > 0,
      isAtProvider: await this.providers.serve(user.email),
    });
  }

  /** Shows the form after the login, because the token that it was sent with belongs to the login before. */
  @Post('login/continue')
  @PageRoute({ login: false, form: true, isNeverStored: true })
  continue(@Visit() { form, request }: PageVisit): PageResponse {
    if (!isUser(request.user)) return { redirectTo: '/login?again=form' };
    const { by, to, ...sent } = keptFormIn(form.get('sent'));
    if (by !== request.user.userId) return { redirectTo: HOME };
    return {
      title: 'Continue with what you sent',
      content: (
        <>
          <p>You are logged in. Nothing was changed yet: check what you sent, and continue.</p>
          <SendAgain action={to} form={sent} button="Continue" />
        </>
      ),
    };
  }
}

const isUser = (user: Request['user']): user is DashboardIdentity => user !== undefined;

/** @throws ApiError INVALID_FIELD if the steps of the login did not keep the form as it was */
function keptFormIn(json = ''): KeptForm {
  try {
    const { by, to, fields, secrets } = JSON.parse(json) as KeptForm;
    const entries = fields.map(([name, value]) => [String(name), String(value)] as const);
    return { by: String(by), to: safeRedirectPath(to), fields: entries, secrets: secrets.map(String) };
  } catch {
    throw INVALID_FIELD.error('The form was not kept. Go back, and send it again.');
  }
}
