import type { ComponentChildren, VNode } from 'preact';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { Form, Notice, Problem, TextField, type Page } from '../../infrastructure/pages/index.js';
import { MINUTE } from '../../infrastructure/time/index.js';
import { LINK_LIFETIME } from './sign-in-links.service.js';

/** Data that the pages of a link show. */
export interface SignInView {
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
  /** Attempts left after a rejected attempt. */
  readonly attemptsLeft?: number;
  /** A field is empty. */
  readonly isMissing?: boolean;
}

/** The page where the user signs in or declines. The page begins with the name of the organization that asks. */
export function credentialsPage(
  view: SignInView,
  { userName = '', attemptsLeft, isMissing = false }: FormState & { readonly userName?: string } = {},
): Page {
  const { organization, merchant, path } = view;
  return {
    title: `Sign in to ${merchant}`,
    status: attemptsLeft !== undefined || isMissing ? 400 : 200,
    content: (
      <>
        <p>
          <strong>{organization}</strong> asks to connect your {merchant} account. Sign in only if you asked{' '}
          {organization} or your assistant to do this.
        </p>
        <TestHint view={view}>
          Don’t enter a real password. Use <code>user_good</code> and <code>pass_good</code>.
        </TestHint>
        <Problem
          message={
            attemptsLeft === undefined
              ? undefined
              : `${merchant} did not accept the user name or the password. Check both and try again. ${attemptsIn(attemptsLeft)}`
          }
        />
        <Form action={path}>
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
        <Decline {...view} />
        <h2>What happens with your password</h2>
        <p>
          Your user name and password go to {merchant} once, to sign you in. They are not stored. Neither{' '}
          {organization} nor your assistant sees them.
        </p>
        <h2>What happens then</h2>
        <p>
          Your {merchant} account is connected, and {organization} and your assistant are told that it is.
          This link works once, {timeLeft(view)}.
        </p>
      </>
    ),
  };
}

/** The page where the user enters the one-time code that the merchant sent. */
export function codePage(view: SignInView, { attemptsLeft, isMissing = false }: FormState = {}): Page {
  const { organization, merchant, path } = view;
  const problem =
    attemptsLeft === undefined
      ? undefined
      : `${merchant} did not accept this code. Check it and try again. ${attemptsIn(attemptsLeft)}`;
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
        {view.codeHint && <p>Sent to: {view.codeHint}</p>}
        <TestHint view={view}>
          The code is <code>123456</code>.
        </TestHint>
        <Problem message={problem} />
        <Form action={path}>
          <TextField
            name="code"
            label="One-time code"
            autocomplete="one-time-code"
            autocapitalize="none"
            error={isMissing ? 'Enter the code.' : undefined}
          />
          <button name="action" value="code">
            Continue
          </button>
        </Form>
        <p>
          No code? <a href={`${path}?again`}>Enter your user name and password again</a>.
        </p>
        <Decline {...view} />
        <h2>What happens with the code</h2>
        <p>
          It goes to {merchant} once and is not stored. Neither {organization} nor your assistant sees it.
          This link works {timeLeft(view)}.
        </p>
      </>
    ),
  };
}

function Decline({ path, organization }: SignInView): VNode {
  return (
    <>
      <h2>Didn’t ask for this?</h2>
      <p>
        Decline, and the link stops working. {organization} gets no access. Closing this page is safe, too.
      </p>
      <Form action={path}>
        <button class="second" name="action" value="decline">
          Not me, decline
        </button>
      </Form>
    </>
  );
}

/** Pages of the environment `development` look like real ones, but nobody should enter a real password there. */
function TestHint(props: { readonly view: SignInView; readonly children: ComponentChildren }): VNode | null {
  if (props.view.environment === 'production') return null;
  return (
    <p>
      <span class="environment development">Test</span> {props.children}
    </p>
  );
}

/** Why a link cannot be used. */
export type End =
  'completed' | 'failed' | 'exhausted' | 'checking' | 'expired' | 'cancelled' | 'unavailable' | 'unanswered';

/** The page of a link that cannot be used, or cannot be used now. @param isDone whether the user has just finished it here */
export function outcomePage(view: SignInView, end: End, isDone: boolean): Page {
  const { status, title, isGood = false, text } = isDone ? (DONE[end] ?? ENDS[end]) : ENDS[end];
  return {
    title: typeof title === 'string' ? title : title(view),
    status,
    content: <Notice kind={isGood ? 'good' : 'bad'}>{text(view)}</Notice>,
  };
}

/** The page for tokens that belong to no link. */
export function unknownLinkPage(): Page {
  return {
    title: 'This link doesn’t work',
    status: 404,
    content: (
      <Notice kind="bad">
        It may be incomplete: open it again from the text message. If that doesn’t help, ask your assistant
        for a new link. Nothing was shared.
      </Notice>
    ),
  };
}

interface Outcome {
  readonly status: number;
  readonly title: string | ((view: SignInView) => string);
  readonly isGood?: boolean;
  readonly text: (view: SignInView) => ComponentChildren;
}

const ENDS: Readonly<Record<End, Outcome>> = {
  completed: {
    status: 410,
    title: 'This link was already used',
    text: ({ merchant, organization }) =>
      `Your ${merchant} account was connected with it, so it doesn’t work again. If you did this, return to your assistant: there is nothing left to do. If you didn’t, change your ${merchant} password and tell ${organization}.`,
  },
  failed: {
    status: 410,
    title: 'The sign-in failed',
    text: ({ merchant }) =>
      `${merchant} doesn’t let you sign in here, for example because your account is locked. Your account was not connected. Sign in on ${merchant}’s own website or app first. Then ask your assistant for a new link.`,
  },
  exhausted: {
    status: 410,
    title: 'Too many attempts',
    text: ({ merchant }) =>
      `To protect your account, this link accepts only a few attempts. Your account was not connected. Check your user name and password on ${merchant}’s own website or app. Then ask your assistant for a new link.`,
  },
  checking: {
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
      'The link was declined, your assistant cancelled it, your assistant is no longer allowed to act for you, or you signed in with another link. This link did not connect your account. If you still want to sign in, ask your assistant for a new link.',
  },
  unavailable: {
    status: 409,
    title: ({ merchant }) => `${merchant} is not available`,
    text: ({ merchant }) =>
      `You can’t sign in to ${merchant} here at the moment. Your account was not connected. Try the link again in a few minutes, or ask your assistant.`,
  },
  unanswered: {
    status: 503,
    title: ({ merchant }) => `${merchant} did not respond`,
    text: ({ merchant }) =>
      `It is not known yet whether ${merchant} has signed you in. Wait a minute, then open the link in the text message again and enter the same as before: you will not be signed in twice, and this attempt doesn’t count.`,
  },
};

/** Pages for users who have just signed in or declined. */
const DONE: Readonly<Partial<Record<End, Outcome>>> = {
  completed: {
    status: 200,
    title: 'You are signed in',
    isGood: true,
    text: ({ merchant, organization }) =>
      `Your ${merchant} account is connected to ${organization}. You can close this page and return to your assistant.`,
  },
  cancelled: {
    status: 200,
    title: 'You declined',
    isGood: true,
    text: ({ organization }) =>
      `${organization} gets no access, and the link no longer works. You can close this page.`,
  },
};

function attemptsIn(left: number): string {
  return left === 1 ? 'You have one attempt left.' : `You have ${left} attempts left.`;
}

function timeLeft({ expiresAt, now }: SignInView): string {
  const minutes = Math.ceil((expiresAt.getTime() - now.getTime()) / MINUTE);
  return minutes <= 1 ? 'for another minute' : `for another ${minutes} minutes`;
}
