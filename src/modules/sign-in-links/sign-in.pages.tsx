import type { ComponentChildren, VNode } from 'preact';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { Form, Notice, Problem, TextField, type Page } from '../../infrastructure/pages/index.js';
import { MINUTE } from '../../infrastructure/time/index.js';
import { LINK_LIFETIME } from './sign-in-link.entity.js';

/** Data that the pages of a link show. */
export interface SignInPageData {
  readonly path: string;
  readonly organization: string;
  readonly merchant: string;
  readonly environment: PlatformEnvironment;
  readonly expiresAt: Date;
  readonly now: Date;
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
export function credentialsPage(
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
          works once and expires in {timeLeft(data)}.
        </p>
      </>
    ),
  };
}

/** The page where the user enters the one-time code that the merchant sent. */
export function codePage(data: SignInPageData, { attemptsLeft, isMissing = false }: FormState = {}): Page {
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
          This link expires in {timeLeft(data)}.
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
export type LinkNotice =
  | 'completed'
  | 'denied'
  | 'tooManyAttempts'
  | 'noAttemptsLeft'
  | 'expired'
  | 'cancelled'
  | 'unavailable'
  | 'noResponse';

/** The page that says why a link cannot be used. @param isConfirmation whether the user has just signed in or declined on the page */
export function noticePage(data: SignInPageData, notice: LinkNotice, isConfirmation: boolean): Page {
  const {
    status,
    title,
    isGood = false,
    text,
  } = (isConfirmation && CONFIRMATIONS[notice]) || NOTICES[notice];
  return {
    title: typeof title === 'string' ? title : title(data),
    status,
    content: <Notice kind={isGood ? 'good' : 'bad'}>{text(data)}</Notice>,
  };
}

/** The page for a token that no link has. */
export function unknownLinkPage(): Page {
  return {
    title: 'This link doesn’t work',
    status: 404,
    content: (
      <Notice kind="bad">
        The address may be incomplete: open the link in the text message again. If that doesn’t help, ask your
        assistant for a new link. Nothing was shared.
      </Notice>
    ),
  };
}

interface NoticeText {
  readonly status: number;
  readonly title: string | ((data: SignInPageData) => string);
  readonly isGood?: boolean;
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
    isGood: true,
    text: ({ merchant, organization }) =>
      `${organization} is connected to your ${merchant} account. You can close this page and return to your assistant.`,
  },
  cancelled: {
    status: 200,
    title: 'You declined',
    isGood: true,
    text: ({ organization }) =>
      `${organization} gets no access, and the link no longer works. You can close this page.`,
  },
};

function attemptsLeftText(left: number): string {
  return left === 1 ? 'You have one attempt left.' : `You have ${left} attempts left.`;
}

function timeLeft({ expiresAt, now }: SignInPageData): string {
  const minutes = Math.ceil((expiresAt.getTime() - now.getTime()) / MINUTE);
  return minutes <= 1 ? 'one minute' : `${minutes} minutes`;
}
