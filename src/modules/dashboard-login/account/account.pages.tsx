import { Fragment, type VNode } from 'preact';
import { Controller, Get, Post } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import { browserName } from '../../../infrastructure/http/index.js';
import {
  ActionButton,
  Badge,
  Details,
  Form,
  Moment,
  noticePage,
  TextField,
  SubmitButton,
  PageRoute,
  Visit,
  type Page,
  type PageResponse,
  type PageVisit,
} from '../../../infrastructure/pages/index.js';
import { roleInWords, DashboardUsersRepository, PasswordRules } from '../../dashboard-users/index.js';
import { NewPasswordField } from '../login/password-reset.pages.js';
import type { DashboardSession } from '../sessions/dashboard-session.entity.js';
import { PasskeysService } from '../passkeys/passkeys.service.js';
import { PasswordsService } from '../passwords/passwords.service.js';
import { SecondFactorService } from '../second-factor/second-factor.service.js';
import { DashboardSessionsService } from '../sessions/dashboard-sessions.service.js';
import { YOUR_ACCOUNT } from '../your-account.js';

const ACCOUNT: PageResponse = { redirectTo: YOUR_ACCOUNT.path };

@Controller('account')
export class AccountPage {
  constructor(
    private readonly users: DashboardUsersRepository,
    private readonly sessions: DashboardSessionsService,
    private readonly secondFactor: SecondFactorService,
    private readonly passkeys: PasskeysService,
    private readonly passwordRules: PasswordRules,
    private readonly passwords: PasswordsService,
  ) {}

  @Get()
  @PageRoute({ login: true })
  async show(@Visit() { actor }: PageVisit): Promise<PageResponse> {
    const [organization, { enabledAt }, passkeys, sessions] = await Promise.all([
      this.users.organizationName(actor.organizationId),
      this.secondFactor.state(actor.userId),
      this.passkeys.count(actor.userId),
      this.sessions.list(actor.userId),
    ]);
    return accountPage({ actor, organization, hasSecondFactor: enabledAt !== null, passkeys, sessions });
  }

  @Post('sessions/end')
  @PageRoute({ login: true, form: true })
  async endSession(@Visit() { actor, form }: PageVisit): Promise<PageResponse> {
    const id = form.get('session');
    if (isUUID(id)) await this.sessions.endOne(actor, id as string);
    return ACCOUNT;
  }

  @Post('sessions/end-others')
  @PageRoute({ login: true, form: true })
  async endOtherSessions(@Visit() { actor }: PageVisit): Promise<PageResponse> {
    const { credential } = actor;
    if (credential.kind === 'session') await this.sessions.endAllOtherAccess(actor, credential.sessionId);
    return ACCOUNT;
  }

  @Get('password')
  @PageRoute({ login: true })
  askPassword(@Visit() { actor }: PageVisit): PageResponse {
    return passwordPage(actor.email);
  }

  @Post('password')
  @PageRoute({ login: true, form: true })
  async changePassword(@Visit() { actor, form }: PageVisit): Promise<PageResponse> {
    const { email } = actor;
    const newPassword = form.get('new_password') ?? '';
    const error = await this.passwordRules.problemWith(newPassword, actor);
    if (error !== undefined) return passwordPage(email, false, error);
    const isChanged = await this.passwords.change(actor, form.get('current_password') ?? '', newPassword);
    return isChanged ? { redirectTo: '/account/password/changed' } : passwordPage(email, true);
  }

  @Get('password/changed')
  @PageRoute({ login: true })
  passwordChanged(): PageResponse {
    return noticePage({
      title: 'Your password is changed',
      parent: YOUR_ACCOUNT,
      notice: 'Use your new password from now on. All your other sessions have ended.',
    });
  }
}

interface AccountPageProps {
  readonly actor: DashboardActor;
  readonly organization: string;
  readonly hasSecondFactor: boolean;
  /** How many the user has. */
  readonly passkeys: number;
  readonly sessions: readonly DashboardSession[];
}

function accountPage(props: AccountPageProps): Page {
  const { actor, organization, hasSecondFactor, passkeys, sessions } = props;
  return {
    title: YOUR_ACCOUNT.title,
    content: (
      <>
        <Details
          entries={[
            ['Name', actor.name],
            ['Email address', actor.email],
            ['Organization', organization],
            ['Role', roleInWords(actor.role)],
            [
              'Password',
              <a key="password" href="/account/password">
                Change password
              </a>,
            ],
            [
              'Two-factor authentication',
              <>
                {hasSecondFactor ? 'On' : 'Off'}
                {' · '}
                <a href="/account/second-factor">
                  {hasSecondFactor ? 'Manage' : 'Set up'} two-factor authentication
                </a>
              </>,
            ],
            [
              'Passkeys',
              <>
                {passkeys === 0 ? 'None' : passkeys}
                {' · '}
                <a href="/account/passkeys">{passkeys === 0 ? 'Add a passkey' : 'Manage passkeys'}</a>
              </>,
            ],
          ]}
        />
        <h2>Where you are logged in</h2>
        {byBrowser(sessions).map(({ browser, newest, older }) => (
          <Fragment key={browser}>
            <h3>{browser}</h3>
            {sessionList(actor, newest)}
            {older.length === 0 ? null : (
              <details>
                <summary>{`Show ${older.length} older ${older.length === 1 ? 'login' : 'logins'} in ${browser}`}</summary>
                {sessionList(actor, older)}
              </details>
            )}
          </Fragment>
        ))}
        <Form action="/account/sessions/end-others">
          <p>Ending all other sessions also ends the access of devices that you approved.</p>
          <button class="second">End all other sessions</button>
        </Form>
      </>
    ),
  };
}

/** Logins of one browser that are shown at once; the others fold away. */
const SHOWN_PER_BROWSER = 2;

function byBrowser(sessions: readonly DashboardSession[]) {
  const browsers = [...new Set(sessions.map(({ userAgent }) => browserName(userAgent)))];
  return browsers.map((browser) => {
    const own = sessions.filter(({ userAgent }) => browserName(userAgent) === browser);
    return { browser, newest: own.slice(0, SHOWN_PER_BROWSER), older: own.slice(SHOWN_PER_BROWSER) };
  });
}

function sessionList({ credential }: DashboardActor, sessions: readonly DashboardSession[]): VNode {
  return (
    <ul class="sessions">
      {sessions.map(({ id, ip, userAgent, authenticatedAt }) => {
        const isThis = credential.kind === 'session' && credential.sessionId === id;
        return (
          <li key={id}>
            <div>
              {ip} {isThis ? <Badge tone="good">This browser</Badge> : null}
              <br />
              <span class="hint">
                Since <Moment time={authenticatedAt} />
              </span>
            </div>
            {isThis ? null : (
              <ActionButton
                action="/account/sessions/end"
                fields={{ session: id }}
                of={`the session in ${browserName(userAgent)} from ${ip}`}
              >
                End
              </ActionButton>
            )}
          </li>
        );
      })}
    </ul>
  );
}

/** @param isRefused whether the current password was wrong @param error what is wrong with the new one */
function passwordPage(email: string, isRefused = false, error?: string): Page {
  return {
    title: 'Change your password',
    parent: YOUR_ACCOUNT,
    status: isRefused ? 403 : error ? 400 : 200,
    content: (
      <>
        <p>Changing your password ends all your other sessions.</p>
        <Form action="/account/password">
          {/* Lets password managers find the account. */}
          <input type="text" name="email" value={email} autocomplete="username" hidden readonly />
          <TextField
            name="current_password"
            label="Current password"
            type="password"
            autocomplete="current-password"
            error={isRefused ? 'This isn’t your current password.' : undefined}
          />
          <NewPasswordField error={error} />
          <SubmitButton>Change password</SubmitButton>
        </Form>
      </>
    ),
  };
}
