import { Form, Link, Notice, Problem, TextField, type Page } from '../../../infrastructure/pages/index.js';
import { PASSKEY_SCRIPT, PasskeyLogin } from '../passkeys/passkeys.pages.js';
import type { LoginTarget } from './login-form.js';

interface LoginPageProps extends LoginTarget {
  readonly email?: string | undefined;
  /** The email or password is wrong, or the user is disabled. The page does not say which. */
  readonly refused?: boolean;
  readonly missing?: { readonly email: boolean; readonly password: boolean };
  /** What is wrong with the passkey. The page does not say why it was refused. */
  readonly passkey?: keyof typeof PASSKEY_PROBLEMS;
}

const PASSKEY_PROBLEMS = {
  missing: {
    status: 400,
    message:
      'Your browser did not send a passkey. Passkeys require JavaScript and a browser that supports them. Log in with your password instead.',
  },
  refused: {
    status: 403,
    message: 'The passkey was not accepted. Try again, or log in with your password.',
  },
} as const;

const AGAIN = {
  page: 'For your security, log in again to continue: the page requires a login within the last 5 minutes.',
  form: 'Nothing was changed: your login was more than 5 minutes ago, and this change requires a recent one. After you log in, fill in the form again.',
} as const;

export function loginPage({ next, again, email, refused = false, missing, passkey }: LoginPageProps): Page {
  const problem = passkey && PASSKEY_PROBLEMS[passkey];
  return {
    title: again ? 'Log in again' : 'Log in',
    status: problem?.status ?? (refused ? 403 : missing ? 400 : 200),
    script: PASSKEY_SCRIPT,
    content: (
      <>
        {again ? <p>{AGAIN[again]}</p> : null}
        {refused ? (
          <Notice kind="bad">
            The email address or password is wrong. Check both and try again, or{' '}
            <a href="/password-reset">reset your password</a>.
          </Notice>
        ) : null}
        <Problem message={problem?.message} />
        <Form action="/login">
          <input type="hidden" name="next" value={next} />
          {again ? <input type="hidden" name="again" value={again} /> : null}
          <TextField
            name="email"
            label="Email address"
            type="email"
            autocomplete="username webauthn"
            value={email}
            error={missing?.email ? 'Enter your email address.' : undefined}
          />
          <TextField
            name="password"
            label="Password"
            type="password"
            autocomplete="current-password"
            error={missing?.password ? 'Enter your password.' : undefined}
          />
          <button>Log in</button>
        </Form>
        <PasskeyLogin fields={{ next, again }} />
        <Link to="/password-reset">Forgot your password?</Link>
      </>
    ),
  };
}

/** @param wrong the kind of code that was entered and rejected */
export function secondFactorPage(next: string, wrong?: 'code' | 'recovery code'): Page {
  return {
    title: 'Enter your code',
    status: wrong ? 403 : 200,
    content: (
      <>
        <p>Your account uses two-factor authentication.</p>
        <Form action="/login/second-factor">
          <input type="hidden" name="next" value={next} />
          <TextField
            name="code"
            label="Code"
            hint="The 6-digit code from your authenticator app."
            autocomplete="one-time-code"
            inputmode="numeric"
            error={
              wrong === 'code'
                ? 'This code is wrong, expired or already used. Enter the next code.'
                : undefined
            }
          />
          <button>Log in</button>
        </Form>
        <details open={wrong === 'recovery code'}>
          <summary>I can’t use my authenticator app</summary>
          <Form action="/login/second-factor">
            <input type="hidden" name="next" value={next} />
            <TextField
              name="recovery_code"
              label="Recovery code"
              hint="One of the 10 codes that you saved when you set up the app. Each code works once."
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
