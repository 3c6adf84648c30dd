import { Controller, Get, Post } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { ComponentChildren, VNode } from 'preact';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { requestOrigin, type FormFields } from '../../infrastructure/http/index.js';
import {
  browserOf,
  Form,
  FormTokens,
  Notice,
  noticePage,
  PageRoute,
  Problem,
  TextField,
  Visit,
  type Page,
  type PageResponse,
  type PageVisit,
} from '../../infrastructure/pages/index.js';
import { Clock, MINUTE } from '../../infrastructure/time/index.js';
import { withAsciiDigits } from '../../infrastructure/validation/index.js';
import { OpenedLinksService, type OpenedLink } from './opened-links.service.js';
import { returnUrlOf } from './return-url.js';
import type { SignInLink } from './sign-in-link.entity.js';
import { loginPathOf, SignInLoginsService, type LinkVisitor } from './sign-in-logins.service.js';
import { MAX_ATTEMPTS, statusOf } from './sign-in-links.service.js';
import { SignInService, type AttemptResult } from './sign-in.service.js';

type LinkVisit = PageVisit<'token' | 'login'>;

/**
 * The pages that a sign-in link opens. The path contains the token. Logs, traces and metrics contain the template of the route
 * instead. If the user has to log in, the path contains the ID of the link instead and, once the user has done so, the ID of the login.
 */
@Controller(['sign-in/:token', 'sign-in/:token/:login'])
export class SignInPage {
  constructor(
    private readonly links: OpenedLinksService,
    private readonly signIns: SignInService,
    private readonly logins: SignInLoginsService,
    private readonly browsers: FormTokens,
    private readonly clock: Clock,
  ) {}

  /** Parameters of the query: `done`: the action that the user just completed. `again`: show the credentials form instead of the code form */
  @Get()
  @PageRoute({ surface: 'connector', login: false })
  async show(@Visit() visit: LinkVisit): Promise<PageResponse> {
    const opened = await this.open(visit.params.token);
    if (!opened) return unknownLinkPage();
    const refusal = await this.refusalOf(opened, visit);
    if (refusal) return refusal;
    const data = this.pageDataOf(opened, visit.params);
    const notice = this.noticeOf(opened);
    if (notice) return linkNoticePage(data, notice, visit.query['done'] === notice);
    return opened.challenge && visit.query['again'] === undefined ? codePage(data) : credentialsPage(data);
  }

  @Post()
  @PageRoute({ surface: 'connector', login: false, form: true })
  async submit(@Visit() visit: LinkVisit): Promise<PageResponse> {
    const { params, form, request, response } = visit;
    const link = await this.links.find(params.token);
    const { ip } = requestOrigin(request);
    await this.links.countForm(link, ip);
    const opened = link && (await this.links.open(link));
    if (!opened) return unknownLinkPage();
    const data = this.pageDataOf(opened, params);
    const action = form.get('action');
    const isAgain = action === 'log_in_again';
    if ((isAgain || action === 'log_in') && link.proof === 'partner_login' && !isEnded(opened, this.clock)) {
      await this.links.countLogin(ip);
      const redirectTo = await this.logins.begin(link, this.browsers.identify(request, response), isAgain);
      return redirectTo === undefined ? loginUnavailablePage(data) : { redirectTo };
    }
    const refusal = await this.refusalOf(opened, visit);
    if (refusal) return refusal;
    if (this.noticeOf(opened)) return { redirectTo: data.path };
    switch (action) {
      case 'decline':
        await this.signIns.decline(opened);
        return { redirectTo: await this.afterEnd(data, opened.link, 'cancelled') };
      case 'code':
        return this.submitCode(opened, data, form);
      default:
        return this.submitCredentials(opened, data, form);
    }
  }

  private async open(token: string): Promise<OpenedLink | undefined> {
    const link = await this.links.find(token);
    return (link && (await this.links.open(link))) ?? undefined;
  }

  /** Returns the page for somebody who has not proven to be the user of the link; undefined for the user. */
  private async refusalOf(opened: OpenedLink, visit: LinkVisit): Promise<Page | undefined> {
    const { params, request } = visit;
    const origin = requestOrigin(request);
    const visitor: LinkVisitor = { browser: browserOf(request), loginId: params.login, origin };
    const result = await this.logins.check(opened, visitor);
    if (result === 'admitted') return undefined;
    const data = this.pageDataOf(opened, { token: params.token });
    const ended = isEnded(opened, this.clock) ? this.noticeOf(opened) : undefined;
    // Without a login, nobody learns more than that the link has ended.
    if (ended) return linkNoticePage({ ...data, returnTo: undefined }, ended, false);
    return result === 'login' ? loginPage(data, params.login !== undefined) : otherUserPage(data);
  }

  private async submitCredentials(
    opened: OpenedLink,
    data: SignInPageData,
    form: FormFields,
  ): Promise<PageResponse> {
    // Keyboards of phones add a space after a word.
    const userName = (form.get('user_name') ?? '').trim();
    const password = form.get('password') ?? '';
    if (userName === '' || password === '') return credentialsPage(data, { userName, isMissing: true });
    const result = await this.signIns.signIn(opened, { userName, password });
    return this.afterAttempt(opened, data, result, (attemptsLeft) =>
      credentialsPage(data, { userName, attemptsLeft }),
    );
  }

  private async submitCode(
    opened: OpenedLink,
    data: SignInPageData,
    form: FormFields,
  ): Promise<PageResponse> {
    const code = withAsciiDigits(form.get('code') ?? '').replaceAll(/\s/g, '');
    if (!opened.challenge) return credentialsPage(data, { isCodeLate: true });
    if (code === '') return codePage(data, { isMissing: true });
    const result = await this.signIns.submitCode(opened, code);
    return this.afterAttempt(opened, data, result, (attemptsLeft) => codePage(data, { attemptsLeft }));
  }

  private async afterAttempt(
    { link }: OpenedLink,
    data: SignInPageData,
    attempt: AttemptResult,
    formAgain: (attemptsLeft: number) => PageResponse,
  ): Promise<PageResponse> {
    if (attempt.result === 'incorrect') return formAgain(attempt.attemptsLeft);
    if (attempt.result === 'unknown') return linkNoticePage(data, 'noResponse', false);
    const hasSucceeded = attempt.result === 'succeeded';
    return { redirectTo: hasSucceeded ? await this.afterEnd(data, link, 'completed') : data.path };
  }

  /** Returns where the browser goes when the user is done: to the partner, or to the page that confirms it. */
  private async afterEnd(
    { path }: SignInPageData,
    { id, returnUrl }: SignInLink,
    done: 'completed' | 'cancelled',
  ): Promise<string> {
    if (returnUrl === null) return `${path}?done=${done}`;
    // Another form may have ended the link at the same time.
    const current = await this.links.reload(id);
    return current ? returnUrlOf({ id, returnUrl, status: statusOf(current, this.clock.now()) }) : path;
  }

  /** Returns the notice that the page shows instead of a form, or undefined if the link can be used. */
  private noticeOf({ link, isAvailable }: OpenedLink): LinkNotice | undefined {
    const status = statusOf(link, this.clock.now());
    const hasNoAttempts = link.attempts >= MAX_ATTEMPTS;
    if (status === 'failed') return hasNoAttempts ? 'tooManyAttempts' : 'denied';
    if (status !== 'pending') return status;
    if (hasNoAttempts) return 'noAttemptsLeft';
    return isAvailable ? undefined : 'unavailable';
  }

  private pageDataOf(
    { link, merchant, organization, challenge }: OpenedLink,
    { token, login }: { readonly token: string; readonly login?: string },
  ): SignInPageData {
    const minutes = Math.ceil((link.expiresAt.getTime() - this.clock.milliseconds()) / MINUTE);
    const status = statusOf(link, this.clock.now());
    return {
      path: pathOf(token, login),
      organization,
      merchant: merchant.name,
      environment: link.environment,
      timeLeft: minutes <= 1 ? 'one minute' : `${minutes} minutes`,
      codeHint: challenge?.hint,
      hasLoggedIn: login !== undefined,
      isFromAgent: link.source === 'agent',
      sender: link.source === 'agent' ? 'your assistant' : organization,
      returnTo:
        link.returnUrl === null ? undefined : returnUrlOf({ ...link, returnUrl: link.returnUrl, status }),
    };
  }
}

function isEnded({ link }: OpenedLink, clock: Clock): boolean {
  return statusOf(link, clock.now()) !== 'pending';
}

function pathOf(token: string, login?: string): string {
  const path = isUUID(token) ? loginPathOf(token) : `/sign-in/${encodeURIComponent(token)}`;
  return login === undefined ? path : `${path}/${encodeURIComponent(login)}`;
}

/** Data that the pages of a link show. */
interface SignInPageData {
  readonly path: string;
  readonly organization: string;
  readonly merchant: string;
  readonly environment: PlatformEnvironment;
  /** For example: 12 minutes. */
  readonly timeLeft: string;
  /** Where the merchant sent the one-time code, in its own words. */
  readonly codeHint?: string | undefined;
  /** Whether the user has logged in at the partner, to prove who they are. */
  readonly hasLoggedIn: boolean;
  readonly isFromAgent: boolean;
  /** The sender of the link, who can send another. */
  readonly sender: string;
  /** The address of the partner that the user returns to. */
  readonly returnTo: string | undefined;
}

/** The page where the user continues to the login of the partner. It begins nothing by itself, because scanners of emails open links. */
function loginPage({ organization, merchant, path, environment }: SignInPageData, hasEnded: boolean): Page {
  return {
    title: `Connect your ${merchant} account`,
    status: hasEnded ? 410 : 200,
    formsLeaveSite: true,
    content: (
      <>
        <Problem
          message={hasEnded ? 'Your login has ended, and nothing was connected. Log in again.' : undefined}
        />
        <p>
          <strong>{organization}</strong> asks to connect your {merchant} account.{' '}
          {environment === 'production' ? null : <span class="environment development">Test</span>}
        </p>
        <p>
          First, log in to {organization}, so that nobody else can use this link. Then you sign in to{' '}
          {merchant}.
        </p>
        <Form action={path}>
          <button name="action" value="log_in">
            Log in to {organization}
          </button>
        </Form>
        <p>If you did not expect this, close this page. Nothing will be connected.</p>
      </>
    ),
  };
}

function otherUserPage({ organization, path }: SignInPageData): Page {
  return {
    title: 'This link is for somebody else',
    status: 403,
    formsLeaveSite: true,
    content: (
      <>
        <Notice kind="bad">
          You are logged in to {organization}, but this link was made for a different account. Nothing was
          connected, and the link still works for its owner.
        </Notice>
        <p>
          If you have two accounts, log in with the other one. If {organization} doesn’t ask who you are, log
          out there first.
        </p>
        <Form action={path}>
          <button name="action" value="log_in_again">
            Log in with the other account
          </button>
        </Form>
      </>
    ),
  };
}

function loginUnavailablePage({ organization }: SignInPageData): Page {
  return noticePage({
    title: 'You cannot log in at the moment',
    status: 409,
    notice: `${organization} no longer offers a login here. Nothing was connected.`,
  });
}

interface FormState {
  /** Defined after wrong credentials or a wrong code. */
  readonly attemptsLeft?: number;
  /** A field is empty. */
  readonly isMissing?: boolean;
}

interface CredentialsState extends FormState {
  readonly userName?: string;
  /** The user has entered a code for a sign-in that has ended. */
  readonly isCodeLate?: boolean;
}

/** The page where the user signs in or declines. It begins with the name of the organization that the account is connected to. */
function credentialsPage(
  data: SignInPageData,
  { userName = '', attemptsLeft, isMissing = false, isCodeLate = false }: CredentialsState = {},
): Page {
  const { organization, merchant, path, isFromAgent } = data;
  return {
    title: `Sign in to ${merchant}`,
    formsLeaveSite: data.returnTo !== undefined,
    status: isCodeLate ? 409 : attemptsLeft !== undefined || isMissing ? 400 : 200,
    content: (
      <>
        <p>
          <strong>{organization}</strong> asks to connect your {merchant} account. Sign in only if you asked{' '}
          {isFromAgent ? `${organization} or your assistant` : organization} to do this.
        </p>
        <TestHint data={data}>
          Don’t enter a real password. Use <code>user_good</code> and <code>pass_good</code>.
        </TestHint>
        <Problem
          message={isCodeLate ? 'The sign-in that the code belongs to has ended. Sign in again.' : undefined}
        />
        <Problem
          message={
            attemptsLeft === undefined
              ? undefined
              : `${merchant} did not accept the user name or the password. Check both and try again. ${attemptsLeftText(attemptsLeft)}`
          }
        />
        <Form action={path} isOnce>
          <TextField
            name="user_name"
            label={`Your ${merchant} user name or email address`}
            value={userName}
            autocapitalize="none"
            error={isMissing && userName === '' ? 'Enter your user name.' : undefined}
          />
          <TextField
            name="password"
            label={`Your ${merchant} password`}
            type="password"
            autocomplete="current-password"
            {...(attemptsLeft !== undefined && { isFirst: true })}
            error={isMissing ? 'Enter your password.' : undefined}
          />
          <button name="action" value="sign_in">
            Sign in
          </button>
        </Form>
        <Decline {...data} />
        <h2>What happens with your password</h2>
        <p>
          Your user name and password go to {merchant} once, to sign you in. They are not stored.{' '}
          {unseen(data)} them.
        </p>
        <h2>What happens next</h2>
        <p>
          Your {merchant} account is connected, and{' '}
          {isFromAgent ? `${organization} and your assistant are` : `${organization} is`} notified. This link
          works once and expires in {data.timeLeft}.<LoginEnd {...data} />
        </p>
      </>
    ),
  };
}

/** The page where the user enters the one-time code that the merchant sent. */
function codePage(data: SignInPageData, { attemptsLeft, isMissing = false }: FormState = {}): Page {
  const { organization, merchant, path } = data;
  const problem =
    attemptsLeft === undefined
      ? undefined
      : `${merchant} did not accept this code. Check it and try again. ${attemptsLeftText(attemptsLeft)}`;
  return {
    title: `Enter the code from ${merchant}`,
    formsLeaveSite: data.returnTo !== undefined,
    status: attemptsLeft !== undefined || isMissing ? 400 : 200,
    content: (
      <>
        <p>
          {merchant} asks for a one-time code before it connects your account to{' '}
          <strong>{organization}</strong>. It usually arrives by text message or email, or an authenticator
          app shows it.
        </p>
        {data.codeHint && <p>Sent to: {data.codeHint}</p>}
        <TestHint data={data}>
          The code is <code>123456</code>.
        </TestHint>
        <Form action={path} isOnce>
          <TextField
            name="code"
            label="One-time code"
            isCode
            autocapitalize="none"
            error={isMissing ? 'Enter the code.' : problem}
          />
          <button name="action" value="code">
            Continue
          </button>
        </Form>
        <p>
          No code? <a href={`${path}?again`}>Enter your user name and password again</a>.
        </p>
        <Decline {...data} />
        <h2>What happens with the code</h2>
        <p>
          It goes to {merchant} once and is not stored. {unseen(data)} it. This link expires in{' '}
          {data.timeLeft}.<LoginEnd {...data} />
        </p>
      </>
    ),
  };
}

/** Says how long the user has, if the user had to log in. */
function LoginEnd({ organization, hasLoggedIn }: SignInPageData): VNode | null {
  if (!hasLoggedIn) return null;
  return <> Your login ends 10 minutes after it began. Then you have to log in to {organization} again.</>;
}

function unseen({ organization, isFromAgent }: SignInPageData): string {
  return isFromAgent ? `Neither ${organization} nor your assistant sees` : `${organization} does not see`;
}

function Decline({ path, organization }: SignInPageData): VNode {
  return (
    <>
      <h2>Didn’t ask for this?</h2>
      <p>
        If you decline, the link stops working and {organization} gets no access. You can also just close this
        page.
      </p>
      <Form action={path} isOnce>
        <button class="second" name="action" value="decline">
          Decline
        </button>
      </Form>
    </>
  );
}

/** Pages of the environment `development` look like real ones, but nobody should enter a real password there. */
function TestHint(props: {
  readonly data: SignInPageData;
  readonly children: ComponentChildren;
}): VNode | null {
  if (props.data.environment === 'production') return null;
  return (
    <p>
      <span class="environment development">Test</span> {props.children}
    </p>
  );
}

/** The reason why a link cannot be used, or cannot be used now. */
type LinkNotice =
  | 'completed'
  | 'denied'
  | 'tooManyAttempts'
  | 'noAttemptsLeft'
  | 'expired'
  | 'cancelled'
  | 'unavailable'
  | 'noResponse';

/** The page that says why a link cannot be used. @param isConfirmation whether the user has just signed in or declined on the page */
function linkNoticePage(data: SignInPageData, notice: LinkNotice, isConfirmation: boolean): Page {
  const { status, title, text } = (isConfirmation && CONFIRMATIONS[notice]) || NOTICES[notice];
  const { returnTo } = data;
  const links = returnTo === undefined ? {} : { [returnTo]: `Return to ${new URL(returnTo).host}` };
  return noticePage({
    title: typeof title === 'string' ? title : title(data),
    status,
    notice: text(data),
    links,
  });
}

/** The page for a token that no link has. */
function unknownLinkPage(): Page {
  return noticePage({
    title: 'This link doesn’t work',
    status: 404,
    notice:
      'The address may be incomplete, or the link is too old: open it in the message again. If that doesn’t help, ask whoever sent you the link for a new one. Nothing was shared.',
  });
}

interface NoticeText {
  readonly status: number;
  readonly title: string | ((data: SignInPageData) => string);
  readonly text: (data: SignInPageData) => ComponentChildren;
}

const NOTICES: Readonly<Record<LinkNotice, NoticeText>> = {
  completed: {
    status: 410,
    title: 'This link was already used',
    text: ({ merchant, organization, sender }) =>
      `Your ${merchant} account was connected with it, so it doesn’t work again. If you did this, you can return to ${sender}. If you didn’t, tell ${organization}, and change your ${merchant} password.`,
  },
  denied: {
    status: 410,
    title: 'The sign-in failed',
    text: ({ merchant, sender }) =>
      `${merchant} doesn’t let you sign in here, for example because your account is locked. Your account was not connected. Sign in on ${merchant}’s own website or app first. Then ask ${sender} for a new link.`,
  },
  tooManyAttempts: {
    status: 410,
    title: 'Too many attempts',
    text: ({ merchant, sender }) =>
      `To protect your account, this link accepts only a few attempts. Your account was not connected. Check your user name and password on ${merchant}’s own website or app. Then ask ${sender} for a new link.`,
  },
  noAttemptsLeft: {
    status: 409,
    title: 'No attempts left',
    text: ({ merchant, sender }) =>
      `All attempts of this link are used, but ${merchant} may still be checking one. Reload this page in a minute. If nothing has changed, ask ${sender} for a new link.`,
  },
  expired: {
    status: 410,
    title: 'This link has expired',
    text: ({ sender }) =>
      `For your safety, links work only for a limited time. Your account was not connected. Ask ${sender} for a new link.`,
  },
  cancelled: {
    status: 410,
    title: 'This link was cancelled',
    text: ({ sender, isFromAgent }) =>
      `This happens if you decline the link or sign in with another one, or if ${sender} cancels it${isFromAgent ? ' or may no longer act for you' : ''}. This link did not connect your account. If you still want to sign in, ask ${sender} for a new link.`,
  },
  unavailable: {
    status: 409,
    title: ({ merchant }) => `${merchant} is not available`,
    text: ({ merchant, sender }) =>
      `You can’t sign in to ${merchant} here at the moment. Your account was not connected. Try the link again in a few minutes, or ask ${sender}.`,
  },
  noResponse: {
    status: 503,
    title: ({ merchant }) => `${merchant} did not respond`,
    text: ({ merchant }) =>
      `It is not known yet whether ${merchant} has signed you in. Wait a minute, then open the link again, and enter the same as before. You will not be signed in twice, and this attempt doesn’t count.`,
  },
};

/** Pages for users who have just signed in or declined. */
const CONFIRMATIONS: Readonly<Partial<Record<LinkNotice, NoticeText>>> = {
  completed: {
    status: 200,
    title: 'You are signed in',
    text: ({ merchant, organization, sender }) =>
      `${organization} is connected to your ${merchant} account. You can close this page and return to ${sender}.`,
  },
  cancelled: {
    status: 200,
    title: 'You declined',
    text: ({ organization }) =>
      `${organization} gets no access, and the link no longer works. You can close this page.`,
  },
};

function attemptsLeftText(left: number): string {
  return left === 1 ? 'You have one attempt left.' : `You have ${left} attempts left.`;
}
