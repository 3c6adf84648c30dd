import { Form, Link, Notice, TextField, type Page } from '../../../infrastructure/pages/index.js';

export interface LoginPageProps {
  /** Where to go after the login. */
  readonly next: string;
  /** Why a user who is logged in has to log in again: to open a page, or to submit a form. */
  readonly again?: 'page' | 'form' | undefined;
  readonly email?: string | undefined;
  /** The email or password is wrong, or the user is disabled. The page does not say which. */
  readonly refused?: boolean;
  readonly missing?: { readonly email: boolean; readonly password: boolean };
}

const AGAIN = {
  page: 'For your security, log in again to continue: the page requires a login within the last 5 minutes.',
  form: 'Nothing was changed: your login was more than 5 minutes ago, and this change requires a recent one. After you log in, fill in the form again.',
} as const;

export function loginPage({ next, again, email, refused = false, missing }: LoginPageProps): Page {
  return {
    title: again ? 'Log in again' : 'Log in',
    status: refused ? 403 : missing ? 400 : 200,
    content: (
      <>
        {again ? <p>{AGAIN[again]}</p> : null}
        {refused ? (
          <Notice kind="bad">
            The email address or password is wrong. Check both and try again, or{' '}
            <a href="/password-reset">reset your password</a>.
          </Notice>
        ) : null}
        <Form action="/login">
          <input type="hidden" name="next" value={next} />
          {again ? <input type="hidden" name="again" value={again} /> : null}
          <TextField
            name="email"
            label="Email address"
            type="email"
            autocomplete="username"
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
