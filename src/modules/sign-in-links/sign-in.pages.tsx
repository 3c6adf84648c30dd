import { Controller, Get, Post } from '@nestjs/common';
import type { ComponentChildren, VNode } from 'preact';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { requestOrigin, type FormFields } from '../../infrastructure/http/index.js';
import {
  Form,
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
import { LINK_LIFETIME } from './sign-in-link.entity.js';
import { MAX_ATTEMPTS, statusOf } from './sign-in-links.service.js';
import { SignInService, type AttemptResult, type OpenedLink } from './sign-in.service.js';

/**
 * The pages that a sign-in link opens. The path contains the token. Logs, traces and metrics contain the template of the route
 * instead.
 */
@Controller('sign-in/:token')
export class SignInPages {
  constructor(
    private readonly signIns: SignInService,
    private readonly clock: Clock,
  ) {}

  /** Parameters of the query: `done`: the action that the user just completed. `again`: show the credentials form instead of the code form */
  @Get()
  @PageRoute({ surface: 'connector', login: false })
  async show(@Visit() { params: { token }, query }: PageVisit<'token'>): Promise<PageResponse> {
    const link = await this.signIns.find(token);
    const opened = link && (await this.signIns.open(link));
    if (!opened) return unknownLinkPage();
    const data = this.pageDataOf(opened, token);
    const notice = this.noticeOf(opened);
    if (notice) return linkNoticePage(data, notice, query['done'] === notice);
    return opened.challenge && query['again'] === undefined ? codePage(data) : credentialsPage(data);
  }

  @Post()
  @PageRoute({ surface: 'connector', login: false, form: true })
  async submit(@Visit() { params: { token }, form, request }: PageVisit<'token'>): Promise<PageResponse> {
    const link = await this.signIns.find(token);
    await this.signIns.countForm(link, requestOrigin(request).ip);
    const opened = link && (await this.signIns.open(link));
    if (!opened) return unknownLinkPage();
    if (this.noticeOf(opened)) return { redirectTo: pathOf(token) };
    const data = this.pageDataOf(opened, token);
    switch (form.get('action')) {
      case 'decline':
        await this.signIns.decline(opened);
        return { redirectTo: `${pathOf(token)}?done=cancelled` };
      case 'code':
        return this.submitCode(opened, data, form);
      default:
        return this.submitCredentials(opened, data, form);
    }
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
    return afterAttempt(data, result, (attemptsLeft) => credentialsPage(data, { userName, attemptsLeft }));
  }

  private async submitCode(
    opened: OpenedLink,
    data: SignInPageData,
    form: FormFields,
  ): Promise<PageResponse> {
    const code = (form.get('code') ?? '').replaceAll(/\s/g, '');
    if (code === '') return codePage(data, { isMissing: true });
    const result = await this.signIns.submitCode(opened, code);
    return afterAttempt(data, result, (attemptsLeft) => codePage(data, { attemptsLeft }));
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

  private pageDataOf({ link, merchant, organization, challenge }: OpenedLink, token: string): SignInPageData {
    const minutes = Math.ceil((link.expiresAt.getTime() - this.clock.milliseconds()) / MINUTE);
    return {
      path: pathOf(token),
      organization,
      merchant: merchant.name,
      environment: link.environment,
      timeLeft: minutes <= 1 ? 'one minute' : `${minutes} minutes`,
      codeHint: challenge?.hint,
    };
  }
}

function afterAttempt(
  data: SignInPageData,
  attempt: AttemptResult,
  formAgain: (attemptsLeft: number) => PageResponse,
): PageResponse {
  if (attempt.result === 'incorrect') return formAgain(attempt.attemptsLeft);
  if (attempt.result === 'unknown') return linkNoticePage(data, 'noResponse', false);
  const { path } = data;
  return { redirectTo: attempt.result === 'succeeded' ? `${path}?done=completed` : path };
}

function pathOf(token: string): string {
  return `/sign-in/${encodeURIComponent(token)}`;
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
}

interface FormState {
  /** Defined after wrong credentials or a wrong code. */
  readonly attemptsLeft?: number;
  /** A field is empty. */
  readonly isMissing?: boolean;
}

/** The page where the user signs in or declines. It begins with the name of the organization that the account is connected to. */
function credentialsPage(
  data: SignInPageData,
  { userName = '', attemptsLeft, isMissing = false }: FormState & { readonly userName?: string } = {},
): Page {
  const { organization, merchant, path } = data;
  return {
    title: `Sign in to ${merchant}`,
    status: attemptsLeft !== undefined || isMissing ? 400 : 200,
    content: (
      <>
        <p>
          <strong>{organization}</strong> asks to connect your {merchant} account. Sign in only if you asked{' '}
          {organization} or your assistant to do this.
        </p>
        <TestHint data={data}>
          Don’t enter a real password. Use <code>user_good</code> and <code>pass_good</code>.
        </TestHint>
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
            error={isMissing ? 'Enter your password.' : undefined}
          />
          <button name="action" value="sign_in">
            Sign in
          </button>
        </Form>
        <Decline {...data} />
        <h2>What happens with your password</h2>
        <p>
          Your user name and password go to {merchant} once, to sign you in. They are not stored. Neither{' '}
          {organization} nor your assistant sees them.
        </p>
        <h2>What happens next</h2>
        <p>
          Your {merchant} account is connected, and {organization} and your assistant are notified. This link
          works once and expires in {data.timeLeft}.
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
          It goes to {merchant} once and is not stored. Neither {organization} nor your assistant sees it.
          This link expires in {data.timeLeft}.
        </p>
      </>
    ),
  };
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

/** What a page says about a link that cannot be used, or cannot be used now. */
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
  return noticePage({ title: typeof title === 'string' ? title : title(data), status, notice: text(data) });
}

/** The page for a token that no link has. */
function unknownLinkPage(): Page {
  return noticePage({
    title: 'This link doesn’t work',
    status: 404,
    notice:
      'The address may be incomplete: open the link in the text message again. If that doesn’t help, ask your assistant for a new link. Nothing was shared.',
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
    text: ({ merchant, organization }) =>
      `Your ${merchant} account was connected with it, so it doesn’t work again. If you did this, you can return to your assistant. If you didn’t, tell ${organization}, and change your ${merchant} password.`,
  },
  denied: {
    status: 410,
    title: 'The sign-in failed',
    text: ({ merchant }) =>
      `${merchant} doesn’t let you sign in here, for example because your account is locked. Your account was not connected. Sign in on ${merchant}’s own website or app first. Then ask your assistant for a new link.`,
  },
  tooManyAttempts: {
    status: 410,
    title: 'Too many attempts',
    text: ({ merchant }) =>
      `To protect your account, this link accepts only a few attempts. Your account was not connected. Check your user name and password on ${merchant}’s own website or app. Then ask your assistant for a new link.`,
  },
  noAttemptsLeft: {
    status: 409,
    title: 'No attempts left',
    text: ({ merchant }) =>
      `All attempts of this link are used, but ${merchant} may still be checking one. Reload this page in a minute. If nothing has changed, ask your assistant for a new link.`,
  },
  expired: {
    status: 410,
    title: 'This link has expired',
    text: () =>
      `For your safety, links work for ${LINK_LIFETIME / MINUTE} minutes. Your account was not connected. Ask your assistant for a new link.`,
  },
  cancelled: {
    status: 410,
    title: 'This link was cancelled',
    text: () =>
      'This happens if you decline the link or sign in with another one, or if your assistant cancels it or may no longer act for you. This link did not connect your account. If you still want to sign in, ask your assistant for a new link.',
  },
  unavailable: {
    status: 409,
    title: ({ merchant }) => `${merchant} is not available`,
    text: ({ merchant }) =>
      `You can’t sign in to ${merchant} here at the moment. Your account was not connected. Try the link again in a few minutes, or ask your assistant.`,
  },
  noResponse: {
    status: 503,
    title: ({ merchant }) => `${merchant} did not respond`,
    text: ({ merchant }) =>
      `It is not known yet whether ${merchant} has signed you in. Wait a minute, then open the link in the text message again, and enter the same as before. You will not be signed in twice, and this attempt doesn’t count.`,
  },
};

/** Pages for users who have just signed in or declined. */
const CONFIRMATIONS: Readonly<Partial<Record<LinkNotice, NoticeText>>> = {
  completed: {
    status: 200,
    title: 'You are signed in',
    text: ({ merchant, organization }) =>
      `${organization} is connected to your ${merchant} account. You can close this page and return to your assistant.`,
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
