import { Form, Notice, TextField, type Page } from '../../../infrastructure/pages/index.js';

export interface LoginPageProps {
  /** Where to go then. */
  readonly next: string;
  readonly email?: string | undefined;
  /** Address and password are not those of a user who may log in; which of them, nobody is told. */
  readonly refused?: boolean;
  readonly missing?: { readonly email: boolean; readonly password: boolean };
}

export function loginPage({ next, email, refused = false, missing }: LoginPageProps): Page {
  return {
    title: 'Log in',
    status: refused ? 403 : missing ? 400 : 200,
    content: (
      <>
        {refused ? (
          <Notice kind="bad">
            E-mail address or password is wrong. Check both and try again, or{' '}
            <a href="/password-reset">reset your password</a>.
          </Notice>
        ) : null}
        <Form action="/login">
          <input type="hidden" name="next" value={next} />
          <TextField
            name="email"
            label="E-mail address"
            type="email"
            autocomplete="username"
            value={email}
            error={missing?.email ? 'Enter your e-mail address.' : undefined}
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
        <p>
          <a href="/password-reset">Forgot your password?</a>
        </p>
      </>
    ),
  };
}

interface SecondFactorPageProps {
  readonly next: string;
  /** What was entered and not accepted. */
  readonly wrong?: 'code' | 'recovery code';
}

export function secondFactorPage({ next, wrong }: SecondFactorPageProps): Page {
  return {
    title: 'Enter your code',
    status: wrong ? 403 : 200,
    content: (
      <>
        <p>Your account is protected by a second step.</p>
        <Form action="/login/second-factor">
          <input type="hidden" name="next" value={next} />
          <TextField
            name="code"
            label="Code"
            hint="The 6 digits that your authenticator app shows now."
            autocomplete="one-time-code"
            inputmode="numeric"
            error={
              wrong === 'code'
                ? 'This code is wrong, expired or used already. Enter the next one.'
                : undefined
            }
          />
          <button>Log in</button>
        </Form>
        <details open={wrong === 'recovery code'}>
          <summary>I cannot use my authenticator app</summary>
          <Form action="/login/second-factor">
            <input type="hidden" name="next" value={next} />
            <TextField
              name="recovery_code"
              label="Recovery code"
              hint="One of the 10 codes that you kept when you set the app up. Each works once."
              autocomplete="off"
              error={wrong === 'recovery code' ? 'This recovery code is wrong or used already.' : undefined}
            />
            <button>Log in with a recovery code</button>
          </Form>
        </details>
        <p>
          <a href="/login">Start again</a>
        </p>
      </>
    ),
  };
}
