import type { VNode } from 'preact';
import { Controller, Get, Post } from '@nestjs/common';
import {
  ButtonLink,
  Form,
  Link,
  noticePage,
  TextField,
  PageRoute,
  Visit,
  type Page,
  type PageResponse,
  type PageVisit,
} from '../../../infrastructure/pages/index.js';
import { MINUTE } from '../../../infrastructure/time/index.js';
import { setSessionCookie } from '../../../infrastructure/auth/index.js';
import { requestOrigin } from '../../../infrastructure/http/index.js';
import { MIN_PASSWORD_LENGTH, PasswordRules } from '../../dashboard-users/index.js';
import { emailFromForm, loginBrowserOf } from '../login-form.js';
import { HOME } from '../safe-redirect-path.js';
import { LoginService } from './login.service.js';
import { RESET_LIFETIME } from '../passwords/password-link.entity.js';
import { PasswordLinksService, type Redemption } from '../passwords/password-links.service.js';
import { PasswordResetsJob } from '../passwords/password-resets.job.js';
import { PasswordResetsService } from '../passwords/password-resets.service.js';

const RESPONSES: Readonly<Record<Redemption, () => PageResponse>> = {
  set: () => ({ redirectTo: '/password-reset/done' }),
  invalid: invalidLinkPage,
  taken: addressTakenPage,
};

@Controller('password-reset')
export class PasswordResetPage {
  constructor(
    private readonly links: PasswordLinksService,
    private readonly resets: PasswordResetsService,
    private readonly job: PasswordResetsJob,
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
  async request(@Visit() { form, request, response }: PageVisit): Promise<PageResponse> {
    const email = emailFromForm(form);
    if (email === undefined) return resetRequestPage(true);
    await this.resets.request(email, requestOrigin(request));
    response.once('close', () => this.job.begin());
    return resetRequestedPage();
  }

  @Get('confirm')
  @PageRoute({ login: false })
  async show(@Visit() { query, request }: PageVisit): Promise<PageResponse> {
    const { token } = query;
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
  async set(@Visit() { form, request, response }: PageVisit): Promise<PageResponse> {
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

export function NewPasswordField({ error }: { readonly error?: string | undefined }): VNode {
  return (
    <TextField
      name="new_password"
      label="New password"
      type="password"
      hint={`At least ${MIN_PASSWORD_LENGTH} characters. A few words that you don’t use elsewhere work well.`}
      autocomplete="new-password"
      error={error}
    />
  );
}

function resetRequestPage(isMissing = false): Page {
  return {
    title: 'Reset your password',
    status: isMissing ? 400 : 200,
    content: (
      <>
        <p>Enter the email address of your account. We’ll send you a link to set a new password.</p>
        <Form action="/password-reset" isOnce>
          <TextField
            name="email"
            label="Email address"
            type="email"
            autocomplete="username"
            error={isMissing ? 'Enter your email address.' : undefined}
          />
          <button>Send link</button>
        </Form>
        <Link to="/login">Back to login</Link>
      </>
    ),
  };
}

/** The page is the same whether or not the address has an account. */
function resetRequestedPage(): Page {
  return noticePage({
    title: 'Check your email',
    notice: `If this address has an account, an email with a link is on its way. The link works for ${RESET_LIFETIME / MINUTE} minutes.`,
    text: 'No email after a few minutes? Check your spam folder, and make sure the address is right.',
    links: { '/login': 'Back to login' },
  });
}

interface Invitation {
  readonly name: string;
  readonly email: string;
  readonly organization: string;
}

/** @param invitation whom the link invites, and to which organization; undefined for a new password */
function setPasswordPage(token: string, invitation?: Invitation, error?: string): Page {
  return {
    title: invitation ? `Welcome to the dashboard of ${invitation.organization}` : 'Set a password',
    status: error ? 400 : 200,
    content: (
      <>
        {invitation ? (
          <p>{`You were invited as ${invitation.name} (${invitation.email}). Set a password to get started.`}</p>
        ) : (
          <p>If you are logged in somewhere, setting a password logs you out there.</p>
        )}
        <Form action="/password-reset/confirm">
          <input type="hidden" name="token" value={token} />
          <NewPasswordField error={error} />
          <button>Set password</button>
        </Form>
      </>
    ),
  };
}

function invalidLinkPage(): Page {
  return noticePage({
    title: 'This link doesn’t work',
    status: 400,
    notice: 'It has expired, was already used, or was replaced by a newer link.',
    text: (
      <p>
        <a href="/password-reset">Request a new link</a>. If you were invited, ask for a new invitation.
      </p>
    ),
  });
}

/** An invitation that was sent before the organization required single sign-on. */
function useProviderPage(): Page {
  return {
    title: 'Your organization uses single sign-on',
    content: (
      <>
        <p>You need no password: you log in with the account that you use for your work.</p>
        <ButtonLink to="/login">Log in with single sign-on</ButtonLink>
      </>
    ),
  };
}

/** Only the owner of the mailbox sees this page, so it may say that the account exists. */
function addressTakenPage(): Page {
  return noticePage({
    title: 'You already have an account',
    status: 409,
    notice:
      'Your email address already has an account in another organization. An address can have only one account.',
    text: 'Ask to be invited with a different email address.',
  });
}

function passwordSetPage(): Page {
  return noticePage({
    title: 'Your password is set',
    notice: 'Use your new password from now on.',
    links: { '/login': 'Log in' },
  });
}
