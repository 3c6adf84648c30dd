import type { VNode } from 'preact';
import { Controller, Get, Post } from '@nestjs/common';
import type { Request } from 'express';
import {
  Form,
  Link,
  Notice,
  Problem,
  TextField,
  PageRoute,
  Visit,
  type Page,
  type PageResponse,
  type PageVisit,
} from '../../../infrastructure/pages/index.js';
import {
  clearSessionCookie,
  sessionTokenOf,
  setSessionCookie,
  type DashboardIdentity,
} from '../../../infrastructure/auth/index.js';
import { PasskeysService } from '../passkeys/passkeys.service.js';
import { PASSKEY_SCRIPT, passkeyLogin } from '../passkeys/passkeys.pages.js';
import { DashboardSessionsService } from '../sessions/dashboard-sessions.service.js';
import { IdentityProviders, type BegunLogin } from '../identity-providers.js';
import {
  afterLogin,
  CONTINUE_PATH,
  emailFromForm,
  LOGGED_IN_PATH,
  loginBrowserOf,
  loginTarget,
  loginTargetOf,
  withNext,
  type LoginTarget,
} from '../login-form.js';
import { HOME, safeRedirectPath } from '../safe-redirect-path.js';
import { LoginService } from './login.service.js';

@Controller()
export class LoginPage {
  constructor(
    private readonly login: LoginService,
    private readonly sessions: DashboardSessionsService,
    private readonly providers: IdentityProviders,
    private readonly passkeys: PasskeysService,
  ) {}

  /**
   * Open to logged-in users too, because some operations require a recent login. Asks for the address first, unless it is known
   * that the user logs in with a password.
   *
   * @param query.again why a user who is logged in has to log in again
   * @param query.with `password` to ask for the password, too
   */
  @Get('login')
  @PageRoute({ opener: 'kept for agents', login: false })
  async begin(@Visit() { query, request }: PageVisit): Promise<PageResponse> {
    const email = (request.user as DashboardIdentity | undefined)?.email;
    const hasPasskey = await this.hasPasskey(request);
    const page = { ...loginTarget(query['next'], query['again']), email, hasPasskey };
    if (query['with'] === 'password') return loginPage(page);
    return email === undefined || (await this.providers.serve(email)) ? addressPage(page) : loginPage(page);
  }

  @Post('login')
  @PageRoute({ opener: 'kept for agents', login: false, form: true })
  async logIn(@Visit() { form, request, response }: PageVisit): Promise<PageResponse> {
    const email = emailFromForm(form);
    const password = form.get('password');
    const target = loginTargetOf(form);
    const page = { ...target, email, hasPasskey: await this.hasPasskey(request) };
    if (form.get('step') === ADDRESS_STEP) {
      if (email === undefined) return addressPage(page, true);
      const begun = await this.providers.begin({ email, target, ...loginBrowserOf(request) });
      return begun && 'url' in begun ? continuePage(begun) : loginPage({ ...page, ...begun });
    }
    if (email === undefined || password === undefined)
      return loginPage({
        ...page,
        missing: { email: email === undefined, password: password === undefined },
      });
    const replacing = sessionTokenOf(request);
    const opened = await this.login.logIn({ email, password, ...loginBrowserOf(request), replacing });
    if (!opened) return loginPage({ ...page, refused: true, hasProvider: await this.providers.serve(email) });
    setSessionCookie(response, opened.session.token, opened.session.expiresAt);
    if (opened.stage === 'complete') return afterLogin(page);
    if (page.sent !== undefined) return secondFactorPage(page);
    return { redirectTo: withNext('/login/second-factor', page.next) };
  }

  /** Returns whether a user who logs in again has a passkey. */
  private async hasPasskey({ user }: Request): Promise<boolean> {
    const { userId } = (user ?? {}) as Partial<DashboardIdentity>;
    return userId !== undefined && (await this.passkeys.count(userId)) > 0;
  }

  @Get('login/second-factor')
  @PageRoute({ opener: 'kept for agents', login: false })
  async askSecondFactor(@Visit() { query, request }: PageVisit): Promise<PageResponse> {
    const user = await this.sessions.awaitingSecondFactor(sessionTokenOf(request));
    const path = safeRedirectPath(query['next']);
    return user ? secondFactorPage({ next: path }) : afterFirstStep(request, path);
  }

  @Post('login/second-factor')
  @PageRoute({ opener: 'kept for agents', login: false, form: true, isOneTime: true })
  async completeLogin(@Visit() { form, request, response }: PageVisit): Promise<PageResponse> {
    const { next, sent } = loginTargetOf(form);
    const page = { next, sent };
    const token = sessionTokenOf(request) ?? '';
    const user = await this.sessions.awaitingSecondFactor(token);
    if (!user) return afterFirstStep(request, next);
    const code = form.get('code');
    const recoveryCode = form.get('recovery_code');
    if (code === undefined && recoveryCode === undefined) return secondFactorPage(page, 'code');
    const proof = recoveryCode === undefined ? { code: code ?? '' } : { recoveryCode };
    const session = await this.login.complete(user, token, proof, loginBrowserOf(request));
    if (!session && !(await this.sessions.awaitingSecondFactor(token))) return afterFirstStep(request, next);
    if (!session) return secondFactorPage(page, 'code' in proof ? 'code' : 'recovery code');
    setSessionCookie(response, session.token, session.expiresAt);
    return afterLogin(page);
  }

  @Post('logout')
  @PageRoute({ login: false, form: true })
  async logOut(@Visit() { actor, request, response }: PageVisit): Promise<PageResponse> {
    const token = sessionTokenOf(request);
    if (request.user && token !== undefined) await this.sessions.logOut(actor, token);
    clearSessionCookie(response);
    return { redirectTo: '/login' };
  }
}

/** Returns where a login leads whose first step has ended: the browser has completed it already, or has to start again. */
function afterFirstStep({ user, method }: Request, next: string): PageResponse {
  if (user) return { redirectTo: next };
  // Whoever sent a code learns why it was not checked.
  const again = new URLSearchParams({ again: 'code', ...(next !== HOME && { next }) });
  return { redirectTo: method === 'POST' ? `/login?${again}` : withNext('/login', next) };
}

interface LoginPageProps extends LoginTarget {
  readonly email?: string | undefined;
  /** Whether the user who logs in again has a passkey, which the page then asks for first. */
  readonly hasPasskey?: boolean;
  /** The email or password is wrong, or the user is disabled. The page does not say which. */
  readonly refused?: boolean;
  /** Whether the form of the user is continued after a login at an identity provider, which happens in another tab. */
  readonly isAtProvider?: boolean;
  /** Whether an identity provider logs in users of the address's domain. */
  readonly hasProvider?: boolean;
  readonly missing?: { readonly email: boolean; readonly password: boolean };
  /** The problem with the passkey. The page does not say why the passkey was refused. */
  readonly passkey?: keyof typeof PASSKEY_PROBLEMS;
  /** Why the identity provider cannot log the user in. */
  readonly problem?: string;
}

const PASSKEY_PROBLEMS = {
  missing: {
    status: 400,
    message:
      'Your browser did not send a passkey. Passkeys require JavaScript and a browser that supports them. Log in with your password instead.',
  },
  refused: { status: 403, message: 'The passkey was not accepted. Try again, or log in with your password.' },
} as const;

const AGAIN = {
  page: 'For your security, log in again to continue: your login was too long ago.',
  form: 'Nothing was changed yet: your login was too long ago for this. Log in again to continue.',
  kept: 'Nothing was changed: you were logged out, or your login was too long ago. After you log in, the form has what you entered.',
  code: 'This login ended before you entered the code. Log in again, and enter the code within 10 minutes, in the same browser.',
} as const;

/** The value of the field `step` in the form that asks for the address only. */
const ADDRESS_STEP = 'address';

/** Asks for the address, which decides where the user logs in. @param isMissing whether it was not entered */
function addressPage(props: LoginPageProps, isMissing = false): Page {
  const { next, again, email, hasPasskey = false } = props;
  const passkey = passkeyLogin(props, hasPasskey);
  const query = new URLSearchParams({ with: 'password', next, ...(again && { again }) });
  return {
    title: titleOf(again),
    status: isMissing ? 400 : 200,
    ...carriesForm(props),
    script: PASSKEY_SCRIPT,
    content: (
      <>
        {again ? <p>{AGAIN[again]}</p> : null}
        {hasPasskey ? passkey : null}
        <Form action="/login">
          <input type="hidden" name="step" value={ADDRESS_STEP} />
          {targetFields(props)}
          {addressField(email, isMissing)}
          <button class={hasPasskey ? 'second' : undefined}>Continue</button>
        </Form>
        {hasPasskey ? null : passkey}
        <Link to={`/login?${query.toString()}`}>Log in with a password</Link>
        <Link to="/password-reset">Forgot your password?</Link>
      </>
    ),
  };
}

/**
 * Sends the browser to the identity provider. A redirect would be refused: the policy of pages allows forms to lead only to
 * this service, and which provider it is depends on what the form contains. A form is sent by the user.
 */
export function continuePage({ url, fields }: Extract<BegunLogin, { readonly url: string }>): Page {
  const title = 'Continue at your identity provider';
  const isForm = fields !== undefined;
  return {
    title,
    ...(isForm ? { formsLeaveSite: true } : { headers: { Refresh: `0; url=${url}` } }),
    content: isForm ? (
      <form method="post" action={url}>
        <p>Your organization uses single sign-on.</p>
        {Object.entries(fields).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        <button>Continue</button>
      </form>
    ) : (
      <>
        <p>Your organization uses single sign-on. Your browser opens the login page of your organization.</p>
        <Link to={url}>Continue if it does not open</Link>
      </>
    ),
  };
}

function titleOf(again: LoginTarget['again']): string {
  return again ? 'Log in again' : 'Log in';
}

/** What a user entered in a form may name anybody: an erasure would not find it in a copy of the page. */
const carriesForm = ({ sent }: Partial<LoginTarget>): Pick<Page, 'isNeverStored'> => ({
  isNeverStored: sent !== undefined,
});

function targetFields({ next, again, sent }: Partial<LoginTarget>): VNode {
  return (
    <>
      <input type="hidden" name="next" value={next} />
      {again ? <input type="hidden" name="again" value={again} /> : null}
      {sent === undefined ? null : <input type="hidden" name="sent" value={sent} />}
    </>
  );
}

function addressField(email: string | undefined, isMissing = false): VNode {
  return (
    <TextField
      name="email"
      label="Email address"
      type="email"
      autocomplete="username webauthn"
      value={email}
      isFirst={!email || isMissing}
      error={isMissing ? 'Enter your email address.' : undefined}
    />
  );
}

export function loginPage(props: LoginPageProps): Page {
  const { again, email, refused = false, missing, passkey, hasPasskey = false } = props;
  const passkeyProblem = passkey && PASSKEY_PROBLEMS[passkey];
  return {
    title: titleOf(again),
    status: passkeyProblem?.status ?? (refused ? 403 : missing ? 400 : props.problem ? 503 : 200),
    ...carriesForm(props),
    script: PASSKEY_SCRIPT,
    content: (
      <>
        {again ? <p>{AGAIN[again]}</p> : null}
        {refused ? (
          <Notice kind="bad">
            The email address or password is wrong. Check both and try again, or{' '}
            <a href="/password-reset">reset your password</a>.
            {props.hasProvider ? (
              <>
                {' '}
                Your organization uses single sign-on: <a href="/login">log in with it</a> if your password
                does not work.
              </>
            ) : null}
          </Notice>
        ) : null}
        <Problem message={passkeyProblem?.message ?? props.problem} />
        {hasPasskey ? passkeyLogin(props, true) : null}
        <Form action="/login">
          {targetFields(props)}
          {addressField(email, missing?.email)}
          <TextField
            name="password"
            label="Password"
            type="password"
            autocomplete="current-password"
            isFirst={Boolean(email) && !missing?.email && !hasPasskey}
            error={missing?.password ? 'Enter your password.' : undefined}
          />
          <button class={hasPasskey ? 'second' : undefined}>Log in</button>
        </Form>
        {hasPasskey ? null : passkeyLogin(props)}
        {props.isAtProvider ? loginInTab(props) : null}
        <Link to="/password-reset">Forgot your password?</Link>
      </>
    ),
  };
}

/** The login at an identity provider leaves this site, which the form that the user sent cannot. */
function loginInTab(target: LoginTarget): VNode {
  const query = new URLSearchParams({ next: LOGGED_IN_PATH, again: 'form' });
  return (
    <Form action={CONTINUE_PATH}>
      <p>
        Or{' '}
        <a href={`/login?${query}`} target="_blank">
          log in with single sign-on in a new tab
        </a>
        . Then come back, and continue.
      </p>
      {targetFields(target)}
      <button class="second">Continue</button>
    </Form>
  );
}

/** @param wrong the kind of code that was entered and rejected */
function secondFactorPage(
  target: Pick<LoginTarget, 'next' | 'sent'>,
  wrong?: 'code' | 'recovery code',
): Page {
  return {
    title: 'Enter your code',
    status: wrong ? 403 : 200,
    ...carriesForm(target),
    content: (
      <>
        <p>Your account uses two-factor authentication.</p>
        <Form action="/login/second-factor">
          {targetFields(target)}
          <TextField
            name="code"
            label="Code"
            hint="The 6-digit code from your authenticator app."
            isCode
            isFirst={wrong !== 'recovery code'}
            inputmode="numeric"
            error={
              wrong === 'code'
                ? 'This code is wrong, expired or already used. Enter the next code. If no code is accepted, let your phone set its clock automatically.'
                : undefined
            }
          />
          <button>Log in</button>
        </Form>
        <details open={wrong === 'recovery code'}>
          <summary>I can’t use my authenticator app</summary>
          <Form action="/login/second-factor">
            {targetFields(target)}
            <TextField
              name="recovery_code"
              label="Recovery code"
              hint="One of the 10 codes that you saved when you set up the app. Each code works once."
              isCode
              autocomplete="off"
              error={wrong === 'recovery code' ? 'This recovery code is wrong or already used.' : undefined}
            />
            <button>Log in with a recovery code</button>
          </Form>
        </details>
        <Link to="/login">Start over</Link>
      </>
    ),
  };
}
